import type { Command } from 'commander';
import { addCommand } from './command.ts';
import { print } from './output.ts';

export function addOpenapi(program: Command): void {
  addCommand(program, {
    name: 'openapi',
    summary: 'print the OpenAPI document of the HTTP interface',
    about: 'Needs no database. With --json on one line.',
    example: 'openapi > openapi.json',
  }).action(async ({ json }: { json?: boolean }) => {
    const { openapiDocument } = await import('../http/openapi.ts'); // as in serve.ts
    const document = await openapiDocument();
    print(json, document, JSON.stringify(document, null, 2));
  });
}
