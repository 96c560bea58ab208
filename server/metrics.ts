import cluster, { type Worker } from 'node:cluster';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Histogram,
  Registry,
  type RegistryContentType,
} from '@prometheus-io/client';

export interface Metrics {
  registry: Registry;
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
  /** What /metrics answers: of this process, or of all that share its port. */
  text(): Promise<string>;
}

/** Made once in a worker: from then on the process answers its primary, which gathers. */
let answering: AggregatorRegistry<RegistryContentType> | undefined;

export function createMetrics({ ofProcess = false } = {}): Metrics {
  const registry = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: registry });
  if (cluster.isWorker) {
    answering ??= new AggregatorRegistry();
    AggregatorRegistry.setRegistries([registry]);
  }
  return {
    registry,
    requestSeconds: new Histogram({
      name: 'inbox_http_request_seconds',
      help: 'Time from a request to its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    text: () => (cluster.isWorker ? askPrimary() : registry.metrics()),
  };
}

const question = 'inbox:metrics?';

interface Reply {
  type: typeof question;
  text?: string;
  error?: string;
}

/** A scrape reaches one of N processes by chance, so that one asks the primary for the sum of all. */
function askPrimary(): Promise<string> {
  return new Promise((resolve, reject) => {
    const listen = ({ type, text, error }: Reply) => {
      if (type !== question) return;
      process.off('message', listen);
      if (text === undefined) reject(new Error(error));
      else resolve(text);
    };
    process.on('message', listen);
    process.send?.({ type: question });
  });
}

/** In the primary of a cluster. */
export function answerMetricsOfWorkers(): void {
  AggregatorRegistry.setRegistries([]);
  const all = new AggregatorRegistry();
  cluster.on('message', (worker: Worker, message: { type?: string }) => {
    if (message.type !== question) return;
    const answer = (reply: Omit<Reply, 'type'>) => {
      if (worker.isConnected()) worker.send({ type: question, ...reply });
    };
    void all.clusterMetrics().then(
      (text) => answer({ text }),
      (error: Error) => answer({ error: error.message }),
    );
  });
}
