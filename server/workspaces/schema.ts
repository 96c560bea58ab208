import Type, { type Static } from 'typebox';
import { type Plan, plans } from '../http/authenticate.ts';
import { Id, Timestamp } from '../schema.ts';

export const Workspace = Type.Object(
  {
    id: Id('workspace'),
    name: Type.String(),
    plan: Type.Unsafe<Plan>({
      type: 'string',
      enum: [...plans],
      description: 'Decides how many requests a minute each API key may make.',
    }),
    created_at: Timestamp,
  },
  { $id: 'Workspace' },
);
export type Workspace = Static<typeof Workspace>;
