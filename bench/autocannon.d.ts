// The package brings no types: what is used of it.
declare module 'autocannon' {
  interface Request {
    method: string;
    path: string;
    headers: Record<string, string>;
    body?: string;
    setupRequest?: (request: Request) => Request;
  }
  interface Client {
    setRequests(requests: Request[]): void;
  }
  interface Options {
    url: string;
    connections: number;
    /** In seconds. */
    duration: number;
    /** How often it looks whether the time is up, in ms. */
    sampleInt: number;
    /** In seconds. */
    timeout: number;
    setupClient(client: Client): void;
  }
  interface Run extends Promise<unknown> {
    on(
      event: 'response',
      listener: (client: Client, status: number, bytes: number, responseMs: number) => void,
    ): void;
    on(event: 'reqError', listener: (error: Error) => void): void;
  }
  export default function autocannon(options: Options): Run;
}
