import type { Random } from './random.ts';

interface Phrases {
  customer: string[];
  agent: string[];
}

const phrases = {
  en: {
    customer: [
      'Hi, where is my order {order}?',
      'The parcel arrived, but one item is broken. What should I do now?',
      'Thanks, that works 👍',
      'I was charged {amount} twice, please have a look.',
      'Can I change the delivery address for {order}?',
      'Is the blue one back in stock?',
      'Still waiting… it has been {days} days.',
      'How do I return a pair of shoes that are too small?',
      'ok',
      'Could you send the invoice for {order} to our accounting, please? They need it before the end of the month.',
    ],
    agent: [
      'Hello! I am looking into it, one moment please.',
      'Your order {order} left our warehouse and should arrive within {days} days.',
      'I have refunded {amount}; it takes up to 5 working days to appear.',
      'Sorry for the trouble! A replacement is on its way.',
      'Could you send me a photo of the damage?',
      'Is there anything else I can do for you?',
      'You will find the return label attached. No printer? The shop can print it for you.',
    ],
  },
  de: {
    customer: [
      'Guten Tag, wo bleibt meine Bestellung {order}?',
      'Mir wurden {amount} doppelt abgebucht.',
      'Vielen Dank, hat geklappt!',
      'Die Größe passt leider nicht, wie läuft die Rücksendung?',
    ],
    agent: [
      'Ich schaue sofort nach, einen Moment bitte.',
      'Ihre Bestellung {order} ist unterwegs und kommt in etwa {days} Tagen an.',
      'Entschuldigen Sie bitte die Umstände. {amount} sind bereits erstattet.',
    ],
  },
  es: {
    customer: [
      '¿Dónde está mi pedido {order}?',
      'Me han cobrado {amount} dos veces.',
      '¡Muchas gracias, ya funciona!',
      '¿Puedo cambiar la dirección de envío?',
    ],
    agent: [
      'Ahora mismo lo reviso.',
      'Su pedido {order} llegará en unos {days} días.',
      'Le hemos devuelto {amount}. ¿Necesita algo más?',
    ],
  },
  fr: {
    customer: [
      'Bonjour, où en est ma commande {order} ?',
      'J’ai été débité deux fois de {amount}.',
      'Parfait, merci beaucoup !',
      'Le colis est arrivé abîmé…',
    ],
    agent: [
      'Je regarde cela tout de suite.',
      'Votre commande {order} arrive d’ici {days} jours.',
      'Nous vous avons remboursé {amount}. Désolé pour la gêne occasionnée.',
    ],
  },
  pt: {
    customer: [
      'Olá, cadê meu pedido {order}?',
      'Fui cobrado duas vezes: {amount}.',
      'Deu certo, obrigado!',
      'Posso trocar o endereço de entrega?',
    ],
    agent: [
      'Vou verificar agora mesmo.',
      'Seu pedido {order} chega em {days} dias.',
      'O reembolso de {amount} já foi feito. Posso ajudar em algo mais?',
    ],
  },
  pl: {
    customer: [
      'Dzień dobry, gdzie jest moje zamówienie {order}?',
      'Pobrano {amount} dwa razy.',
      'Dziękuję, działa!',
    ],
    agent: [
      'Już sprawdzam.',
      'Zamówienie {order} dotrze w ciągu {days} dni.',
      'Zwróciliśmy {amount}. Przepraszamy za kłopot.',
    ],
  },
  tr: {
    customer: [
      'Merhaba, {order} numaralı siparişim nerede?',
      'İki kez {amount} çekilmiş.',
      'Teşekkürler, oldu!',
    ],
    agent: [
      'Hemen bakıyorum.',
      '{order} numaralı siparişiniz {days} gün içinde ulaşır.',
      '{amount} iade edildi.',
    ],
  },
  vi: {
    customer: [
      'Xin chào, đơn hàng {order} của tôi đâu rồi?',
      'Tôi bị trừ {amount} hai lần.',
      'Cảm ơn, được rồi!',
    ],
    agent: ['Tôi kiểm tra ngay.', 'Đơn {order} sẽ đến trong {days} ngày.', 'Chúng tôi đã hoàn {amount}.'],
  },
  uk: {
    customer: [
      'Доброго дня, де моє замовлення {order}?',
      'З мене двічі зняли {amount}.',
      'Дякую, все працює!',
    ],
    agent: [
      'Зараз перевірю.',
      'Замовлення {order} прибуде за {days} дн.',
      'Ми повернули {amount}. Перепрошуємо.',
    ],
  },
  el: {
    customer: [
      'Καλησπέρα, πού είναι η παραγγελία μου {order};',
      'Χρεώθηκα δύο φορές {amount}.',
      'Ευχαριστώ πολύ!',
    ],
    agent: ['Το ελέγχω αμέσως.', 'Η παραγγελία {order} φτάνει σε {days} ημέρες.', 'Επιστρέψαμε {amount}.'],
  },
  ar: {
    customer: ['مرحبا، أين طلبي {order}؟', 'تم خصم {amount} مرتين.', 'شكرا جزيلا!'],
    agent: ['سأتحقق من ذلك الآن.', 'سيصل الطلب {order} خلال {days} أيام.', 'تم رد {amount}.'],
  },
  hi: {
    customer: ['नमस्ते, मेरा ऑर्डर {order} कहाँ है?', 'मुझसे दो बार {amount} लिए गए।', 'धन्यवाद, हो गया!'],
    agent: ['मैं अभी देखता हूँ।', 'आपका ऑर्डर {order} {days} दिन में पहुँचेगा।', '{amount} वापस कर दिए गए हैं।'],
  },
  ja: {
    customer: [
      '注文 {order} はいつ届きますか？',
      '{amount} が二重に請求されています。',
      'ありがとうございます！',
      '色違いはありますか🙂',
    ],
    agent: [
      '確認いたしますので少々お待ちください。',
      'ご注文 {order} は {days} 日以内に届きます。',
      '{amount} を返金いたしました。',
    ],
  },
  ko: {
    customer: ['주문 {order} 언제 오나요?', '{amount}이 두 번 결제됐어요.', '감사합니다!'],
    agent: [
      '바로 확인하겠습니다.',
      '주문 {order}은 {days}일 안에 도착합니다.',
      '{amount} 환불해 드렸습니다.',
    ],
  },
  zh: {
    customer: ['你好，我的订单 {order} 到哪里了？', '{amount} 被扣了两次。', '好的，谢谢！'],
    agent: ['我马上查看。', '订单 {order} 将在 {days} 天内送达。', '已退款 {amount}，给您添麻烦了。'],
  },
} satisfies Record<string, Phrases>;

export type Language = keyof typeof phrases;

export const notes = [
  'Customer sounds upset, please be quick.',
  'Checked with the warehouse: parcel was scanned yesterday.',
  'Refund approved by Léa 👌',
  'Same problem as last week, see the other conversation.',
];

export const failures = [
  'The number cannot be reached',
  'The recipient has blocked this channel',
  'The platform refused the message',
];

/** Mostly a line, now and then a long letter. */
export function textOf(random: Random, language: Language, who: 'customer' | 'agent'): string {
  const list: string[] = phrases[language][who];
  let text = filled(random, random.pick(list));
  const more = random.unit();
  if (more < 0.7) return text;
  const lines = more < 0.97 ? 1 : 4 + random.below(12);
  for (let i = 0; i < lines; i++) text += `${lines > 1 ? '\n' : ' '}${filled(random, random.pick(list))}`;
  return text;
}

function filled(random: Random, phrase: string): string {
  if (!phrase.includes('{')) return phrase;
  return phrase
    .replace('{order}', () => `#${100_000 + random.below(900_000)}`)
    .replace('{amount}', () => `${random.below(400)}.${String(random.below(100)).padStart(2, '0')} €`)
    .replace('{days}', () => String(2 + random.below(8)));
}
