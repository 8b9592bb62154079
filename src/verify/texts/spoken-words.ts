/** What a call says in one language. */
export interface SpokenWords {
  named: string;
  /** Used when nothing is left of the application's name. */
  bare: string;
  again: string;
  /** The words for 0 to 9. A voice could read digits with commas or full stops as one number, or as ordinals. */
  digits: readonly string[];
}

const words = (named: string, bare: string, again: string, digits: string): SpokenWords => ({
  named,
  bare,
  again,
  digits: digits.split(' '),
});

/** The same languages as those of the texts. */
export const spokenWords: Readonly<Record<string, SpokenWords>> = {
  af: words('Jou kode vir {app} is:', 'Jou kode is:', 'Nog ’n keer:', 'nul een twee drie vier vyf ses sewe agt nege'),
  ar: words('رمزك في {app} هو:', 'رمزك هو:', 'مرة أخرى:', 'صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة'),
  bg: words(
    'Вашият код за {app} е:',
    'Вашият код е:',
    'Още веднъж:',
    'нула едно две три четири пет шест седем осем девет',
  ),
  bn: words('{app} এর জন্য আপনার কোড:', 'আপনার কোড:', 'আবার বলছি:', 'শূন্য এক দুই তিন চার পাঁচ ছয় সাত আট নয়'),
  ca: words(
    'El teu codi per a {app} és:',
    'El teu codi és:',
    'Un altre cop:',
    'zero u dos tres quatre cinc sis set vuit nou',
  ),
  cs: words(
    'Váš kód pro {app} je:',
    'Váš kód je:',
    'Ještě jednou:',
    'nula jedna dva tři čtyři pět šest sedm osm devět',
  ),
  da: words('Din kode til {app} er:', 'Din kode er:', 'En gang til:', 'nul en to tre fire fem seks syv otte ni'),
  de: words(
    'Ihr Code für {app} ist:',
    'Ihr Code ist:',
    'Noch einmal:',
    'null eins zwei drei vier fünf sechs sieben acht neun',
  ),
  el: words(
    'Ο κωδικός σας για {app} είναι:',
    'Ο κωδικός σας είναι:',
    'Άλλη μία φορά:',
    'μηδέν ένα δύο τρία τέσσερα πέντε έξι επτά οκτώ εννέα',
  ),
  en: words(
    'Your code for {app} is:',
    'Your code is:',
    'Once more:',
    'zero one two three four five six seven eight nine',
  ),
  es: words(
    'Tu código para {app} es:',
    'Tu código es:',
    'Otra vez:',
    'cero uno dos tres cuatro cinco seis siete ocho nueve',
  ),
  et: words(
    'Sinu {app} kood on:',
    'Sinu kood on:',
    'Veel kord:',
    'null üks kaks kolm neli viis kuus seitse kaheksa üheksa',
  ),
  fa: words('کد {app} شما:', 'کد شما:', 'یک بار دیگر:', 'صفر یک دو سه چهار پنج شش هفت هشت نه'),
  fi: words(
    'Koodisi palveluun {app} on:',
    'Koodisi on:',
    'Vielä kerran:',
    'nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän',
  ),
  fil: words(
    'Ang code mo para sa {app} ay:',
    'Ang code mo ay:',
    'Uulitin ko:',
    'zero isa dalawa tatlo apat lima anim pito walo siyam',
  ),
  fr: words(
    'Votre code pour {app} est :',
    'Votre code est :',
    'Encore une fois :',
    'zéro un deux trois quatre cinq six sept huit neuf',
  ),
  he: words('הקוד שלך עבור {app} הוא:', 'הקוד שלך הוא:', 'פעם נוספת:', 'אפס אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע'),
  hi: words('{app} के लिए आपका कोड है:', 'आपका कोड है:', 'एक बार फिर:', 'शून्य एक दो तीन चार पाँच छह सात आठ नौ'),
  hr: words(
    'Vaš kôd za {app} je:',
    'Vaš kôd je:',
    'Još jednom:',
    'nula jedan dva tri četiri pet šest sedam osam devet',
  ),
  hu: words(
    'Az Ön kódja ehhez: {app}:',
    'Az Ön kódja:',
    'Még egyszer:',
    'nulla egy kettő három négy öt hat hét nyolc kilenc',
  ),
  id: words(
    'Kode Anda untuk {app} adalah:',
    'Kode Anda adalah:',
    'Sekali lagi:',
    'nol satu dua tiga empat lima enam tujuh delapan sembilan',
  ),
  is: words(
    'Kóðinn þinn fyrir {app} er:',
    'Kóðinn þinn er:',
    'Einu sinni enn:',
    'núll einn tveir þrír fjórir fimm sex sjö átta níu',
  ),
  it: words(
    'Il tuo codice per {app} è:',
    'Il tuo codice è:',
    'Ancora una volta:',
    'zero uno due tre quattro cinque sei sette otto nove',
  ),
  ja: words(
    '{app} のコードは、',
    'コードは、',
    'もう一度お伝えします。',
    'ゼロ いち に さん よん ご ろく なな はち きゅう',
  ),
  ko: words('{app} 코드는:', '코드는:', '다시 한번:', '영 일 이 삼 사 오 육 칠 팔 구'),
  lt: words(
    'Jūsų {app} kodas:',
    'Jūsų kodas:',
    'Dar kartą:',
    'nulis vienas du trys keturi penki šeši septyni aštuoni devyni',
  ),
  lv: words(
    'Jūsu {app} kods ir:',
    'Jūsu kods ir:',
    'Vēlreiz:',
    'nulle viens divi trīs četri pieci seši septiņi astoņi deviņi',
  ),
  mk: words(
    'Вашиот код за {app} е:',
    'Вашиот код е:',
    'Уште еднаш:',
    'нула еден два три четири пет шест седум осум девет',
  ),
  ms: words(
    'Kod anda untuk {app} ialah:',
    'Kod anda ialah:',
    'Sekali lagi:',
    'sifar satu dua tiga empat lima enam tujuh lapan sembilan',
  ),
  nb: words('Koden din for {app} er:', 'Koden din er:', 'En gang til:', 'null en to tre fire fem seks sju åtte ni'),
  nl: words(
    'Uw code voor {app} is:',
    'Uw code is:',
    'Nog een keer:',
    'nul een twee drie vier vijf zes zeven acht negen',
  ),
  pl: words(
    'Twój kod do {app} to:',
    'Twój kod to:',
    'Jeszcze raz:',
    'zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć',
  ),
  pt: words(
    'O seu código para {app} é:',
    'O seu código é:',
    'Mais uma vez:',
    'zero um dois três quatro cinco seis sete oito nove',
  ),
  ro: words(
    'Codul dvs. pentru {app} este:',
    'Codul dvs. este:',
    'Încă o dată:',
    'zero unu doi trei patru cinci șase șapte opt nouă',
  ),
  ru: words('Ваш код для {app}:', 'Ваш код:', 'Ещё раз:', 'ноль один два три четыре пять шесть семь восемь девять'),
  sk: words('Váš kód pre {app} je:', 'Váš kód je:', 'Ešte raz:', 'nula jeden dva tri štyri päť šesť sedem osem deväť'),
  sl: words('Vaša koda za {app} je:', 'Vaša koda je:', 'Še enkrat:', 'nič ena dve tri štiri pet šest sedem osem devet'),
  sq: words(
    'Kodi juaj për {app} është:',
    'Kodi juaj është:',
    'Edhe një herë:',
    'zero një dy tre katër pesë gjashtë shtatë tetë nëntë',
  ),
  sr: words(
    'Ваш код за {app} је:',
    'Ваш код је:',
    'Још једном:',
    'нула један два три четири пет шест седам осам девет',
  ),
  'sr-Latn': words(
    'Vaš kod za {app} je:',
    'Vaš kod je:',
    'Još jednom:',
    'nula jedan dva tri četiri pet šest sedam osam devet',
  ),
  sv: words('Din kod för {app} är:', 'Din kod är:', 'En gång till:', 'noll ett två tre fyra fem sex sju åtta nio'),
  sw: words(
    'Msimbo wako wa {app} ni:',
    'Msimbo wako ni:',
    'Tena:',
    'sifuri moja mbili tatu nne tano sita saba nane tisa',
  ),
  th: words('รหัส {app} ของคุณคือ', 'รหัสของคุณคือ', 'ขอย้ำอีกครั้ง', 'ศูนย์ หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า'),
  tr: words('{app} kodunuz:', 'Kodunuz:', 'Bir kez daha:', 'sıfır bir iki üç dört beş altı yedi sekiz dokuz'),
  uk: words('Ваш код для {app}:', 'Ваш код:', 'Ще раз:', 'нуль один два три чотири п’ять шість сім вісім дев’ять'),
  ur: words('{app} کے لیے آپ کا کوڈ ہے:', 'آپ کا کوڈ ہے:', 'ایک بار پھر:', 'صفر ایک دو تین چار پانچ چھ سات آٹھ نو'),
  vi: words('Mã của bạn cho {app} là:', 'Mã của bạn là:', 'Xin nhắc lại:', 'không một hai ba bốn năm sáu bảy tám chín'),
  'zh-Hans': words('您的 {app} 验证码是：', '您的验证码是：', '再说一遍：', '零 一 二 三 四 五 六 七 八 九'),
  'zh-Hant': words('您的 {app} 驗證碼是：', '您的驗證碼是：', '再說一遍：', '零 一 二 三 四 五 六 七 八 九'),
};
