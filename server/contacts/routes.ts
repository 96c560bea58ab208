import Type from 'typebox';
import type { Context } from '../context.ts';
import { answerOnce } from '../http/idempotency.ts';
import { type App, dataOf, IdParams, listOf, sendPage } from '../http/route.ts';
import { pageOf } from '../page.ts';
import { byId } from '../references.ts';
import { changeContact, contactOf, createContact } from './contacts.ts';
import { findContact, listContacts } from './queries.ts';
import { Contact, ContactQuery, ContactUpdate, defaultPerPage, NewContact } from './schema.ts';

export function contactRoutes(app: App, ctx: Context): void {
  app.addSchema(Contact);
  const One = dataOf(Type.Ref('Contact#'));

  app.get(
    '/contacts',
    {
      config: { scope: 'contacts:read' },
      schema: {
        operationId: 'listContacts',
        summary: 'List contacts',
        description: 'Newest first.',
        tags: ['Contacts'],
        querystring: ContactQuery,
        response: { 200: listOf(Type.Ref('Contact#')) },
      },
    },
    async (request, reply) => {
      const page = pageOf(request.query, defaultPerPage);
      const found = await listContacts(ctx.db, request.caller.workspaceId, request.query, page);
      return sendPage(request, reply, page, { ...found, rows: found.rows.map(contactOf) });
    },
  );

  app.get(
    '/contacts/:id',
    {
      config: { scope: 'contacts:read' },
      schema: {
        operationId: 'getContact',
        summary: 'Read a contact',
        tags: ['Contacts'],
        params: IdParams,
        response: { 200: One },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const row = await byId('contact', request.params.id, (id) => findContact(ctx.db, workspaceId, id));
      return { data: contactOf(row) };
    },
  );

  app.post(
    '/contacts',
    {
      config: { scope: 'contacts:write' },
      schema: {
        operationId: 'createContact',
        summary: 'Create a contact',
        tags: ['Contacts'],
        body: NewContact,
        response: { 201: One },
      },
    },
    (request, reply) =>
      answerOnce(ctx, request, reply, async (tx) => ({
        status: 201,
        data: await createContact(tx, request.caller.workspaceId, request.body),
      })),
  );

  app.put(
    '/contacts/:id',
    {
      config: { scope: 'contacts:write' },
      schema: {
        operationId: 'updateContact',
        summary: 'Update a contact',
        description:
          'Only the fields sent change. `tags` replaces the list; `custom_attributes` the keys it names.',
        tags: ['Contacts'],
        params: IdParams,
        body: ContactUpdate,
        response: { 200: One },
      },
    },
    async (request) => {
      const { workspaceId } = request.caller;
      const data = await byId('contact', request.params.id, (id) =>
        ctx.db.transaction((tx) => changeContact(tx, workspaceId, id, request.body)),
      );
      return { data };
    },
  );
}
