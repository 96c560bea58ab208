import type { SendResult } from '../connector.ts';
import type { GraphAnswer, GraphError } from './graph.ts';

/** The platform's codes that an agent meets, in the agent's words, and whether time heals them. */
const known: Record<number, { passes?: true; reason: string }> = {
  0: { reason: 'The access token of this channel is not valid.' },
  1: { passes: true, reason: 'WhatsApp had an unknown problem.' },
  2: { passes: true, reason: 'WhatsApp is temporarily unavailable.' },
  4: { passes: true, reason: 'Too many requests to WhatsApp at the moment.' },
  10: { reason: 'The access token of this channel lacks a permission.' },
  33: { reason: 'The phone number of this channel was deleted.' },
  100: { reason: 'WhatsApp did not accept the message as it is.' },
  190: { reason: 'The access token of this channel has expired or was revoked.' },
  368: { reason: 'WhatsApp has temporarily blocked this business for a violation of its policies.' },
  80007: { passes: true, reason: 'The business account is over its rate limit.' },
  130429: { passes: true, reason: 'The number is over its rate limit.' },
  130472: { reason: 'WhatsApp held this message back: the customer is part of an experiment of Meta.' },
  131000: { passes: true, reason: 'WhatsApp could not send the message for an unknown reason.' },
  131005: { reason: 'The access token of this channel lacks a permission.' },
  131008: { reason: 'WhatsApp misses something in the message.' },
  131009: { reason: 'WhatsApp did not accept a value in the message.' },
  131016: { passes: true, reason: 'WhatsApp is temporarily unavailable.' },
  131021: { reason: 'The customer has the same number as the business.' },
  131026: {
    reason: 'The message is undeliverable: the number may not be on WhatsApp or may not accept messages.',
  },
  131030: { reason: 'The customer is not among the test numbers that a number in development may write to.' },
  131031: { reason: 'The business account is locked.' },
  131037: { reason: 'WhatsApp has not approved the display name of the number yet.' },
  131042: { reason: 'There is a problem with the payment method of the business account.' },
  131045: { reason: 'The phone number is not registered with WhatsApp.' },
  131047: { reason: 'More than 24 hours have passed since the customer wrote: send a template instead.' },
  131048: {
    passes: true,
    reason: 'WhatsApp limits this number because earlier messages were marked as spam.',
  },
  131049: { reason: 'WhatsApp held this message back to protect the customer from too many messages.' },
  131050: { reason: 'The customer does not want marketing messages from this business.' },
  131051: { reason: 'WhatsApp does not support this type of message.' },
  131052: { reason: 'WhatsApp could not download the media.' },
  131053: { reason: 'WhatsApp could not take the media.' },
  131056: { passes: true, reason: 'Too many messages to this customer in a short time.' },
  131057: { passes: true, reason: 'The business account is in maintenance.' },
  132000: { reason: 'The number of variables does not match the template.' },
  132001: { reason: 'The template does not exist in this language, or is not approved.' },
  132005: { reason: 'The filled-in template is too long.' },
  132007: { reason: 'The template violates a policy of WhatsApp.' },
  132012: { reason: 'A variable does not have the format the template wants.' },
  132015: { reason: 'The template is paused because of its quality.' },
  132016: { reason: 'The template is disabled because of its quality.' },
  133004: { passes: true, reason: 'WhatsApp is temporarily unavailable.' },
  133010: { reason: 'The phone number is not registered with WhatsApp.' },
};

/** For a person: what it means, and the platform's own words to look up. */
export function reasonOf(error: GraphError = {}): string {
  const code = codeOf(error);
  const { message, title, error_data } = error;
  const words = [error_data?.details, message, title].find((text) => typeof text === 'string' && text !== '');
  const meaning = (code !== undefined && known[code]?.reason) || 'WhatsApp refused it.';
  const quoted =
    typeof words === 'string' ? `: ${words.slice(0, 500).toWellFormed().replaceAll('\0', '')}` : '';
  return `${meaning} (Meta ${code ?? 'gives no code'}${quoted})`;
}

const codeOf = ({ code }: GraphError): number | undefined => (typeof code === 'number' ? code : undefined);

/** What a send that was not accepted means for the message. */
export function resultOf(answer: GraphAnswer): SendResult {
  if (answer.status === null) {
    if (answer.why === 'blocked_address')
      return { outcome: 'failed', reason: 'api_base_url leads to an address that is not public.' };
    const reason = 'WhatsApp could not be reached.';
    return { outcome: 'retry', reason, timedOut: answer.why === 'timeout', uncertain: !answer.refused };
  }
  const { status, retryAfterSeconds: afterSeconds } = answer;
  const error = answer.body.error ?? {};
  const code = codeOf(error);
  if (code === undefined) {
    const reason = `WhatsApp could not be reached (HTTP ${status}).`;
    // Something between us and the platform answered, so nobody knows whether the platform has it.
    if (status >= 500) return { outcome: 'retry', reason, uncertain: true, afterSeconds };
    return status === 429 ? { outcome: 'retry', reason, afterSeconds } : { outcome: 'failed', reason };
  }
  const reason = reasonOf(error);
  const passes = known[code]
    ? known[code].passes === true
    : error.is_transient === true || status === 429 || status >= 500;
  return passes ? { outcome: 'retry', reason, afterSeconds } : { outcome: 'failed', reason };
}
