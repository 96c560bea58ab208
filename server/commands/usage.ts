import { InvalidArgumentError } from 'commander';
import { Failure } from '../exit.ts';
import { emailRule } from '../rules.ts';

/** The command was called wrongly: one clear line, exit code 2. */
export class UsageError extends Failure {
  constructor(message: string) {
    super(message, 2);
  }
}

/** Parsers of option values. What they throw, commander completes with the name of the option. */

export function nameValue(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  if (Array.from(text).length > 255) throw new InvalidArgumentError('It can have at most 255 characters.');
  return text;
}

export function emailValue(text: string): string {
  if (!new RegExp(emailRule.pattern, 'u').test(text) || text.length > 320) {
    throw new InvalidArgumentError('It must be an e-mail address, such as ada@example.com.');
  }
  return text;
}

export function countValue(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text.replaceAll('_', ''));
    if (!/^[0-9][0-9_]*$/.test(text) || value > most) {
      throw new InvalidArgumentError(`It must be a whole number from 0 to ${most}.`);
    }
    return value;
  };
}

export function listValue<const T extends string>(valid: readonly T[]): (text: string) => T[] {
  return (text) => {
    const named = text.split(',').map((part) => part.trim());
    const wrong = named.find((name) => !valid.some((one) => one === name));
    if (wrong !== undefined) {
      throw new InvalidArgumentError(`"${wrong}" is none of ${valid.join(', ')}.`);
    }
    return valid.filter((one) => named.includes(one));
  };
}
