import Type, { type Static } from 'typebox';
import { archived, archivedInput } from '../http/archivable.ts';
import { emailRule } from '../rules.ts';
import { Id, Name, NullableText, Timestamp } from '../schema.ts';

const roles = ['agent', 'admin'] as const;
export type Role = (typeof roles)[number];

const role = Type.Unsafe<Role>({ type: 'string', enum: [...roles] });

export const Agent = Type.Object(
  {
    id: Id('agent'),
    name: Type.String(),
    email: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
    role,
    archived,
    created_at: Timestamp,
  },
  { $id: 'Agent' },
);
export type Agent = Static<typeof Agent>;

const email = Type.Optional(
  NullableText(320, {
    ...emailRule,
    description: 'No two agents that are not archived share one, in any case.',
  }),
);

export const NewAgent = Type.Object({
  name: Name,
  email,
  role: Type.Optional(Type.Unsafe<Role>({ ...role, default: 'agent' })),
});
export type NewAgent = Static<typeof NewAgent>;

export const AgentUpdate = Type.Object({
  name: Type.Optional(Name),
  email,
  role: Type.Optional(role),
  archived: archivedInput,
});
export type AgentUpdate = Static<typeof AgentUpdate>;
