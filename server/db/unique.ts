import { DatabaseError } from 'pg';
import { invalid } from '../errors.ts';

const uniqueViolation = '23505';

/** A write that a unique index may refuse: asking the index itself also holds when two write at once. */
export async function unlessTaken<T>(
  write: Promise<T>,
  { index, field, message }: { index: string; field: string; message: string },
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const taken =
      error instanceof DatabaseError && error.code === uniqueViolation && error.constraint === index;
    throw taken ? invalid(field, 'unique', message) : error;
  }
}
