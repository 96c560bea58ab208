import assert from 'node:assert/strict';
import test from 'node:test';
import { errorCodes } from '../../../emulator/whatsapp/errors.ts';
import { reasonOf, resultOf } from './errors.ts';

const answered = (status: number, error: object) =>
  resultOf({ status, body: { error }, retryAfterSeconds: undefined });

const passing = new Set([1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057, 133004]);

test('every code Meta documents is either tried again or failed, whatever HTTP status it comes with', () => {
  const codes = [...errorCodes.map(({ code }) => code), 131037, 131045, 131050, 133004];
  for (const code of codes.filter((code) => code !== 3)) {
    for (const status of [400, 429, 500]) {
      const outcome = passing.has(code) ? 'retry' : 'failed';
      const result = answered(status, { code, message: 'Words' });
      assert.equal(result.outcome, outcome, `${code} with HTTP ${status}`);
    }
    assert.doesNotMatch(reasonOf({ code }), /^WhatsApp refused it/, `${code} has words for the agent`);
  }
});

test('codes we have never heard of go by the HTTP status, and by what Meta says of them', () => {
  const odd = { code: 999_999, message: 'Brand new' };
  assert.deepEqual(answered(400, odd), {
    outcome: 'failed',
    reason: 'WhatsApp refused it. (Meta 999999: Brand new)',
  });
  assert.equal(answered(429, odd).outcome, 'retry');
  assert.equal(answered(503, odd).outcome, 'retry');
  assert.equal(answered(400, { ...odd, is_transient: true }).outcome, 'retry');
});

test('the details are the best of Meta’s words, and 500 characters of them are enough', () => {
  const words = { code: 100, title: 'Title', message: 'Message', error_data: { details: 'x'.repeat(9_000) } };
  assert.match(reasonOf(words), /\(Meta 100: x{500}\)$/);
  assert.match(reasonOf({ ...words, error_data: null }), /\(Meta 100: Message\)$/);
  assert.match(reasonOf({ code: 100, title: 'Title' }), /\(Meta 100: Title\)$/);
});

test('whether a message may have arrived decides how long its report is waited for', () => {
  const nothing = { status: null, why: 'connection' } as const;
  assert.deepEqual(resultOf({ ...nothing, refused: false }), {
    outcome: 'retry',
    reason: 'WhatsApp could not be reached.',
    timedOut: false,
    uncertain: true,
  });
  assert.equal((resultOf({ ...nothing, refused: true }) as { uncertain: boolean }).uncertain, false);
  const gateway = resultOf({ status: 504, body: {}, retryAfterSeconds: 7 });
  assert.deepEqual(gateway, {
    outcome: 'retry',
    reason: 'WhatsApp could not be reached (HTTP 504).',
    uncertain: true,
    afterSeconds: 7,
  });
});
