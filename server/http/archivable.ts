import Type from 'typebox';
import { pageQuery } from '../page.ts';
import { dataOf, IdParams, listOf } from './route.ts';

/** What the settings resources share: DELETE archives them, history keeps showing them, PATCH brings them back. */

export const defaultPerPage = 25;

const ArchivableQuery = Type.Object({
  archived: Type.Optional(
    Type.Boolean({ default: false, description: 'true: lists the archived ones too.' }),
  ),
  ...pageQuery(defaultPerPage),
});

/** In answers. */
export const archived = Type.Boolean({
  description: 'Archived by DELETE: still readable and shown in history, refused in anything new.',
});

/** In PATCH. */
export const archivedInput = Type.Optional(
  Type.Boolean({ description: 'false brings an archived one back; true archives, as DELETE does.' }),
);

const Archived = Type.Object({ id: Type.String(), archived: Type.Literal(true) });

/** What DELETE answers. */
export const archivedAnswer = (id: string) => ({ data: { id, archived: true } });

/** How the OpenAPI document tells of the five operations on a resource; the handlers are each resource's own. */
export function describeOperations({ $id, one, many }: { $id: string; one: string; many: string }) {
  const tags = ['Settings'];
  const Resource = Type.Ref(`${$id}#`);
  return {
    list: {
      operationId: `list${$id}s`,
      summary: `List ${many}`,
      description: 'Newest first.',
      tags,
      querystring: ArchivableQuery,
      response: { 200: listOf(Resource) },
    },
    create: {
      operationId: `create${$id}`,
      summary: `Create ${one}`,
      tags,
      response: { 201: dataOf(Resource) },
    },
    read: {
      operationId: `get${$id}`,
      summary: `Read ${one}`,
      tags,
      params: IdParams,
      response: { 200: dataOf(Resource) },
    },
    update: {
      operationId: `update${$id}`,
      summary: `Update ${one}`,
      description: 'Only the fields sent change.',
      tags,
      params: IdParams,
      response: { 200: dataOf(Resource) },
    },
    archive: {
      operationId: `archive${$id}`,
      summary: `Archive ${one}`,
      description: 'It stays readable and shown in history. Archiving it again changes nothing.',
      tags,
      params: IdParams,
      response: { 200: dataOf(Archived) },
    },
  };
}
