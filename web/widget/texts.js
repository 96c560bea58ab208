/** @typedef {import('./types.ts').Texts} Texts */

/** @type {Record<string, Texts>} */
const translations = {
  en: {
    title: 'Chat with us',
    welcome: 'Hello! How can we help? Write to us here and we will answer in this window.',
    open: 'Open chat',
    close: 'Close chat',
    unread: (count) => (count === 1 ? '1 unread message' : `${count} unread messages`),
    conversation: 'Conversation',
    write: 'Write a message…',
    send: 'Send',
    you: 'You',
    earlier: 'Show earlier messages',
    sending: 'Sending…',
    notSent: 'Not sent',
    tryingAgain: 'Not sent yet, trying again…',
    retry: 'Try now',
    connecting: 'Connecting…',
    unavailable: 'This chat is not available at the moment.',
    opensInNewTab: 'opens in a new tab',
  },
  de: {
    title: 'Schreiben Sie uns',
    welcome: 'Hallo! Wie können wir helfen? Schreiben Sie uns hier, wir antworten in diesem Fenster.',
    open: 'Chat öffnen',
    close: 'Chat schließen',
    unread: (count) => (count === 1 ? '1 ungelesene Nachricht' : `${count} ungelesene Nachrichten`),
    conversation: 'Unterhaltung',
    write: 'Nachricht schreiben…',
    send: 'Senden',
    you: 'Sie',
    earlier: 'Frühere Nachrichten zeigen',
    sending: 'Wird gesendet…',
    notSent: 'Nicht gesendet',
    tryingAgain: 'Noch nicht gesendet, neuer Versuch…',
    retry: 'Jetzt versuchen',
    connecting: 'Verbindung wird aufgebaut…',
    unavailable: 'Dieser Chat ist gerade nicht verfügbar.',
    opensInNewTab: 'öffnet in neuem Tab',
  },
  fr: {
    title: 'Écrivez-nous',
    welcome:
      'Bonjour ! Comment pouvons-nous vous aider ? Écrivez-nous ici, nous répondrons dans cette fenêtre.',
    open: 'Ouvrir le chat',
    close: 'Fermer le chat',
    unread: (count) => (count === 1 ? '1 message non lu' : `${count} messages non lus`),
    conversation: 'Conversation',
    write: 'Écrire un message…',
    send: 'Envoyer',
    you: 'Vous',
    earlier: 'Afficher les messages précédents',
    sending: 'Envoi…',
    notSent: 'Non envoyé',
    tryingAgain: 'Pas encore envoyé, nouvel essai…',
    retry: 'Réessayer',
    connecting: 'Connexion…',
    unavailable: 'Ce chat n’est pas disponible pour le moment.',
    opensInNewTab: 's’ouvre dans un nouvel onglet',
  },
  es: {
    title: 'Escríbenos',
    welcome: '¡Hola! ¿En qué podemos ayudarte? Escríbenos aquí y te responderemos en esta ventana.',
    open: 'Abrir chat',
    close: 'Cerrar chat',
    unread: (count) => (count === 1 ? '1 mensaje sin leer' : `${count} mensajes sin leer`),
    conversation: 'Conversación',
    write: 'Escribe un mensaje…',
    send: 'Enviar',
    you: 'Tú',
    earlier: 'Ver mensajes anteriores',
    sending: 'Enviando…',
    notSent: 'No enviado',
    tryingAgain: 'Aún no enviado, reintentando…',
    retry: 'Reintentar',
    connecting: 'Conectando…',
    unavailable: 'Este chat no está disponible en este momento.',
    opensInNewTab: 'se abre en una pestaña nueva',
  },
};

/**
 * @param {string} language
 * @returns {Texts}
 */
export function textsFor(language) {
  return translations[language.slice(0, 2).toLowerCase()] ?? /** @type {Texts} */ (translations.en);
}
