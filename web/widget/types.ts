/** The shapes the parts of the widget share. Only checkers read this file. */

export interface Settings {
  /** Where the service is: where this script came from. */
  origin: string;
  channel: string;
  user: { id: string; hash: string; name?: string } | undefined;
  title: string | undefined;
  color: string | undefined;
  language: string;
}

export interface Texts {
  title: string;
  welcome: string;
  open: string;
  close: string;
  unread: (count: number) => string;
  conversation: string;
  write: string;
  send: string;
  you: string;
  earlier: string;
  sending: string;
  notSent: string;
  tryingAgain: string;
  retry: string;
  connecting: string;
  unavailable: string;
  opensInNewTab: string;
}

export interface Attachment {
  url: string;
  content_type: string;
  file_name: string;
}

/** As the service gives it. */
export interface Message {
  id: string;
  from: 'visitor' | 'agent';
  author: string | null;
  content: string;
  attachments: Attachment[];
  created_at: string;
}

/** Written here and not yet known to be stored. */
export interface Pending {
  id: string;
  content: string;
  created_at: string;
}

export type SendState = 'sending' | 'waiting' | 'refused';

export interface Page {
  messages: Message[];
  before: string | null;
  cursor: string;
}

export interface Store {
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
  /** What is kept under names that begin so, sorted by name. */
  under(prefix: string): { name: string; value: string }[];
  /** Another tab changed something. */
  onChange(listener: (name: string) => void): void;
}

export interface Api {
  send(message: Pending): Promise<Message>;
  history(before?: string): Promise<Page>;
  stream(cursor: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export interface Log {
  element: HTMLElement;
  /** Puts a message at the end, once however often it is told of it. False: it was there. */
  add(message: Message): boolean;
  addEarlier(messages: Message[]): void;
  addPending(message: Pending, onRetry: () => void): void;
  markPending(id: string, state: SendState): void;
  /** A pending message is stored: its bubble is the message's from now on. */
  confirm(id: string, message: Message): void;
  scrollToEnd(): void;
  /** Before the messages: a button that loads what was said earlier. */
  offerEarlier(load: (() => Promise<void>) | undefined): void;
}

export interface View {
  input: HTMLTextAreaElement;
  isOpen(): boolean;
  open(options: { focus: boolean }): void;
  close(): void;
  setUnread(count: number): void;
  setStatus(text: string): void;
  onToggle: (open: boolean) => void;
  onSubmit: (text: string) => void;
}
