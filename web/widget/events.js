/**
 * Server-sent events as they come. EventSource can send no Authorization header, and a token has no place in a URL.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {() => void} onBytes The other side is alive.
 * @returns {AsyncGenerator<{ id: string, data: string }>}
 */
export async function* readEvents(body, onBytes) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = fieldOf(block, 'data');
      if (data) yield { id: fieldOf(block, 'id'), data };
    }
  }
}

/**
 * The service writes each field on one line.
 * @param {string} block
 * @param {string} name
 */
function fieldOf(block, name) {
  const line = block.split('\n').find((line) => line.startsWith(`${name}: `));
  return line?.slice(name.length + 2) ?? '';
}
