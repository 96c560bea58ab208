import Type, { type Static } from 'typebox';
import { type Scope, scopes as allScopes } from '../http/scopes.ts';
import { Id, Name, NullableIdInput, NullableTimestamp, Timestamp } from '../schema.ts';

const ScopeName = Type.Unsafe<Scope>({ type: 'string', enum: [...allScopes] });

const fields = {
  id: Id('key'),
  name: Type.String(),
  scopes: Type.Array(ScopeName),
  agent_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The agent this key stands for; without one it speaks as a bot.',
  }),
  expires_at: NullableTimestamp,
  last_used_at: Type.Unsafe<string | null>({ ...NullableTimestamp, description: 'Exact to the minute.' }),
  revoked: Type.Boolean(),
  created_at: Timestamp,
};

export const ApiKey = Type.Object(fields, { $id: 'ApiKey' });
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = Type.Object(
  { ...fields, key: Type.String({ description: 'The key itself. It is shown here and never again.' }) },
  { $id: 'NewApiKey' },
);

const expiresAt = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    'x-rule': 'must be a timestamp such as 2030-11-15T09:30:00.000Z',
    description: 'When the key stops working, a time to come; null: never.',
  }),
);

export const KeyInput = Type.Object({
  name: Name,
  scopes: Type.Optional(
    Type.Array(ScopeName, {
      minItems: 1,
      maxItems: 100,
      description: 'What the key may do: scopes that the calling key has, and all of those when not given.',
    }),
  ),
  agent_id: Type.Optional(NullableIdInput('the agent the key stands for')),
  expires_at: expiresAt,
});
export type KeyInput = Static<typeof KeyInput>;

const asRead = { description: 'Cannot change; may be sent back as it was read.' };

export const KeyUpdate = Type.Object({
  name: Type.Optional(Name),
  expires_at: expiresAt,
  scopes: Type.Optional(Type.Array(ScopeName, asRead)),
  agent_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], ...asRead })),
  revoked: Type.Optional(Type.Boolean(asRead)),
});
export type KeyUpdate = Static<typeof KeyUpdate>;
