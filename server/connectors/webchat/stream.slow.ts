import assert from 'node:assert/strict';
import test from 'node:test';
import { startService } from '../../../test/harness.ts';
import { makeWebchat, visit } from '../../../test/webchat.ts';

const service = await startService();
const channel = await makeWebchat(await service.workspace());

test('a silent stream says every 20 seconds that it is alive', async () => {
  const { token } = await visit(service, channel.id);
  const response = await fetch(`${service.baseUrl}/channels/${channel.id}/webchat/events`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader.read()).value, 'retry: 1000\n\n');
  for (let beat = 0; beat < 2; beat++) {
    const begun = performance.now();
    assert.equal((await reader.read()).value, ':\n\n');
    assert.ok(Math.abs(performance.now() - begun - 20_000) < 2_000);
  }
  await reader.cancel();
});
