/** style.css, put before the other parts by the service. */
declare const css: string;
