import type { Language } from './phrases.ts';

/** Where seeded customers come from. A name in another script carries the Latin letters its e-mail address uses. */
export interface Locale {
  language: Language;
  diallingCode: string;
  familyNameFirst: boolean;
  given: PersonName[];
  family: PersonName[];
}

export interface PersonName {
  written: string;
  latin: string;
}

export const locales: Locale[] = [
  latin(
    'en',
    '1',
    'Olivia Liam Emma Noah Ava Mason Sophia Logan Grace Henry Zoë Wyatt',
    'Smith Johnson Brown Davis Miller O’Connor Taylor Nguyen-Hall Walker Young Fitzgerald Reed',
  ),
  latin(
    'en',
    '44',
    'Amelia Oliver Isla George Freya Alfie Siân Rhys Niamh Callum Imogen Rory',
    'Jones Williams Evans Thomas Roberts Hughes Campbell MacDonald Ó’Brien Wright Hartley Shaw',
  ),
  latin(
    'de',
    '49',
    'Jürgen Käthe Lukas Mia Sören Anneliese Björn Zoë Heidrun Götz Leonie Matthias',
    'Müller Schröder Weiß Großmann Schäfer Königsberger Vogel Straßer Böhm Hoffmann Krüger Zimmermann',
  ),
  latin(
    'es',
    '34',
    'José María Ángel Lucía Íñigo Begoña Jesús Inés Álvaro Nuria Raúl Sofía',
    'García Muñoz Fernández Ibáñez López Peña Núñez Gómez Domínguez Ortiz Cañizares Vázquez',
  ),
  latin(
    'fr',
    '33',
    'Élodie François Chloé Loïc Gaëlle Benoît Aurélie Théo Maëlys Rémi Zoé Hélène',
    'Lefèvre Dubois Garçon Moreau Bélanger Chevalier Côté Rousseau Béranger Noël Fournier Guérin',
  ),
  latin(
    'pt',
    '55',
    'João Conceição Luís Ana Antônio Inês Simão Letícia Mônica Gonçalo Vitória Caio',
    'Silva Magalhães Araújo Conceição Gonçalves Simões Pereira Brandão Sá Oliveira Guimarães Leitão',
  ),
  latin(
    'pl',
    '48',
    'Łukasz Małgorzata Paweł Agnieszka Żaneta Sławomir Zofia Michał Grażyna Wojciech Ewa Bożena',
    'Kowalski Wójcik Wiśniewski Dąbrowski Szymański Zając Król Piątek Grabowski Łuczak Mróz Źródlak',
  ),
  latin(
    'tr',
    '90',
    'Ayşe Çağla Ömer İbrahim Gülşen Şükrü Zeynep Uğur Ilgın Doğan Elif Kağan',
    'Yılmaz Öztürk Şahin Çelik Güneş Kılıç Aydın Doğru Işık Koç Yıldız Ünal',
  ),
  latin(
    'vi',
    '84',
    'Hương Dũng Thảo Đức Quỳnh Tuấn Ngọc Hải Phượng Việt Mỹ Khánh',
    'Nguyễn Trần Lê Phạm Hoàng Vũ Đặng Bùi Đỗ Hồ Ngô Dương',
    true,
  ),
  other(
    'uk',
    '380',
    'Олена:olena Андрій:andrii Соломія:solomiia Тарас:taras Юлія:yuliia Ївга:yivha Ганна:hanna Богдан:bohdan',
    'Шевченко:shevchenko Коваль:koval Бондаренко:bondarenko Мельник:melnyk Ткачук:tkachuk Гнатюк:hnatiuk',
  ),
  other(
    'el',
    '30',
    'Ελένη:eleni Γιώργος:giorgos Μαρία:maria Νίκος:nikos Αθηνά:athina Στέλιος:stelios Δήμητρα:dimitra Κώστας:kostas',
    'Παπαδόπουλος:papadopoulos Ιωάννου:ioannou Αγγελής:angelis Βλάχος:vlachos Οικονόμου:oikonomou Λάμπρου:lamprou',
  ),
  other(
    'ar',
    '20',
    'محمد:mohamed فاطمة:fatma أحمد:ahmed مريم:mariam يوسف:youssef ليلى:laila خالد:khaled نور:nour',
    'المصري:elmasry حسن:hassan السيد:elsayed إبراهيم:ibrahim عبدالله:abdallah منصور:mansour',
  ),
  other(
    'hi',
    '91',
    'आरव:aarav प्रिया:priya रोहन:rohan अनन्या:ananya विक्रम:vikram दीपिका:deepika कबीर:kabir मीरा:meera',
    'शर्मा:sharma पटेल:patel सिंह:singh गुप्ता:gupta वर्मा:verma अय्यर:iyer',
  ),
  other(
    'ja',
    '81',
    '花子:hanako 太郎:taro 陽菜:hina 蓮:ren さくら:sakura 健一:kenichi 美咲:misaki 大翔:hiroto',
    '佐藤:sato 鈴木:suzuki 高橋:takahashi 田中:tanaka 渡辺:watanabe 小林:kobayashi',
    true,
  ),
  other(
    'ko',
    '82',
    '민준:minjun 서연:seoyeon 지훈:jihoon 하은:haeun 도윤:doyun 수아:sua 예준:yejun 지우:jiwoo',
    '김:kim 이:lee 박:park 최:choi 정:jung 강:kang',
    true,
  ),
  other(
    'zh',
    '86',
    '伟:wei 芳:fang 秀英:xiuying 娜:na 敏:min 静:jing 磊:lei 洋:yang',
    '王:wang 李:li 张:zhang 刘:liu 陈:chen 杨:yang',
    true,
  ),
];

export const companies = (
  'Ágora Studio|Alpenblick Reisen|Blue Harbor Logistics|Brasserie Étoile|Café Müller|Casa Luz|' +
  'Delta Freight|Ege Tekstil|Fjord & Sons|Green Valley Foods|Hanoi Coffee House|Iberia Cerámica|' +
  'Jasmine Travel|Kraków Meble|Lighthouse Clinics|Maple Street Bikes|Nordwind Energie|Orchard Books|' +
  'Pão Quente|Quartz Optics|Rosso Moda|Sakura 商店|Summit Outdoor|Tsukiji Foods|Umbrella Repair|' +
  'Veridian Pharma|Weißgerber GmbH|Yellow Door Rentals|Zebra Print|한빛 Electronics'
).split('|');

/** Reserved for documentation: nothing sent to them reaches anyone. */
export const mailDomains = [
  'example.com',
  'example.org',
  'example.net',
  'mail.example',
  'post.example',
  'kunde.example',
];

export const tags = (
  'vip|newsletter|b2b|trial|wholesale|churn risk|beta|returning|overdue|press|partner|student|' +
  'Großkunde|événement|referral|loyalty|instagram|fair 2026|réclamation|日本'
).split('|');

function latin(
  language: Language,
  diallingCode: string,
  given: string,
  family: string,
  familyNameFirst = false,
): Locale {
  const name = (written: string) => ({ written, latin: asciiOf(written) });
  return {
    language,
    diallingCode,
    familyNameFirst,
    given: given.split(' ').map(name),
    family: family.split(' ').map(name),
  };
}

function other(
  language: Language,
  diallingCode: string,
  given: string,
  family: string,
  familyNameFirst = false,
): Locale {
  const name = (pair: string) => {
    const [written = '', latin = ''] = pair.split(':');
    return { written, latin };
  };
  return {
    language,
    diallingCode,
    familyNameFirst,
    given: given.split(' ').map(name),
    family: family.split(' ').map(name),
  };
}

/** Without the marks; ß, ł, ı and đ have none to take away. */
function asciiOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i')
    .replaceAll('đ', 'd');
  return plain.normalize('NFD').replace(/[^a-z]/g, '');
}
