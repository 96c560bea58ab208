import type { Context } from '../../context.ts';
import { fromId } from '../../ids.ts';
import type { Connector } from '../connector.ts';
import { tellBrowsers } from './news.ts';

/** The message is in the database already: sending is telling every process, one of which may hold the visitor's stream. */
export function createWebchatConnector({ db }: Pick<Context, 'db'>): Connector {
  return {
    async send({ to }) {
      await tellBrowsers(db, fromId('contact', to.contactId)!);
      return { outcome: 'sent' };
    },
  };
}
