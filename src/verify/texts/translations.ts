/**
 * A verification's sentences in one language. Minutes need no plural: an abbreviation ("10 min") or an invariant word.
 * Prefers common words that stay in GSM-7 ("clave" for "código": 160 characters, not 70), but never drops an accent.
 */
export interface Translation {
  named: string;
  /** Used when the application's name does not fit. */
  bare: string;
  valid: string;
  secret: string;
}

const english: Translation = {
  named: '{code} is your {app} code.',
  bare: '{code} is your verification code.',
  valid: 'Valid for {minutes} min.',
  secret: 'Do not share it.',
};

export const translations: ReadonlyMap<string, Translation> = new Map(
  Object.entries({
    af: {
      named: '{code} is jou kode vir {app}.',
      bare: '{code} is jou verifikasiekode.',
      valid: 'Geldig vir {minutes} min.',
      secret: 'Moenie dit met iemand deel nie.',
    },
    ar: {
      named: '{code} هو رمزك في {app}.',
      bare: '{code} هو رمزك.',
      valid: 'الصلاحية: {minutes} د.',
      secret: 'لا تشاركه مع أحد.',
    },
    bg: {
      named: '{code} е вашият код за {app}.',
      bare: '{code} е вашият код.',
      valid: 'Валиден {minutes} мин.',
      secret: 'Не го споделяйте.',
    },
    bn: {
      named: '{code} আপনার {app} কোড।',
      bare: '{code} আপনার কোড।',
      valid: 'মেয়াদ {minutes} মিনিট।',
      secret: 'কাউকে বলবেন না।',
    },
    ca: {
      named: '{code} és el teu codi per a {app}.',
      bare: '{code} és el teu codi de seguretat.',
      valid: 'Vàlid durant {minutes} min.',
      secret: 'No el comparteixis.',
    },
    cs: {
      named: '{code} je váš kód pro {app}.',
      bare: '{code} je váš kód.',
      valid: 'Platí {minutes} min.',
      secret: 'Nikomu ho nesdělujte.',
    },
    da: {
      named: '{code} er din kode til {app}.',
      bare: '{code} er din bekræftelseskode.',
      valid: 'Gælder i {minutes} min.',
      secret: 'Del den ikke med nogen.',
    },
    de: {
      named: '{code} ist Ihr Code für {app}.',
      bare: '{code} ist Ihr Bestätigungscode.',
      valid: '{minutes} Min. gültig.',
      secret: 'Bitte nicht weitergeben.',
    },
    el: {
      named: '{code} είναι ο κωδικός {app}.',
      bare: '{code} είναι ο κωδικός σας.',
      valid: 'Ισχύει {minutes} λεπ.',
      secret: 'Μην τον μοιραστείτε.',
    },
    en: english,
    es: {
      named: '{code} es tu clave de un solo uso para {app}.',
      bare: '{code} es tu clave de un solo uso.',
      valid: 'Caduca en {minutes} min.',
      secret: 'No la compartas.',
    },
    et: {
      named: '{code} on sinu kood ({app}).',
      bare: '{code} on sinu kinnituskood.',
      valid: 'Kehtib {minutes} min.',
      secret: 'Ära jaga seda kellegagi.',
    },
    fa: {
      named: '{code} کد {app} شماست.',
      bare: '{code} کد شماست.',
      valid: '{minutes} دقیقه معتبر است.',
      secret: 'آن را به کسی ندهید.',
    },
    fi: {
      named: '{code} on koodisi palveluun {app}.',
      bare: '{code} on vahvistuskoodisi.',
      valid: 'Voimassa {minutes} min.',
      secret: 'Älä kerro sitä muille.',
    },
    fil: {
      named: '{code} ang code mo para sa {app}.',
      bare: '{code} ang verification code mo.',
      valid: 'Valid nang {minutes} min.',
      secret: 'Huwag itong ibahagi kahit kanino.',
    },
    fr: {
      named: '{code} est votre code {app}.',
      bare: '{code} est votre code de validation.',
      valid: 'Valable {minutes} min.',
      secret: 'Ne le partagez pas.',
    },
    he: {
      named: '{code} הוא הקוד שלך עבור {app}.',
      bare: '{code} הוא הקוד שלך.',
      valid: 'תקף למשך {minutes} דק׳.',
      secret: 'אין לשתף אותו.',
    },
    hi: {
      named: '{code} आपका {app} कोड है।',
      bare: '{code} आपका कोड है।',
      valid: '{minutes} मिनट तक मान्य।',
      secret: 'किसी को न बताएँ।',
    },
    hr: {
      named: '{code} je kod za {app}.',
      bare: '{code} je kod za potvrdu.',
      valid: 'Vrijedi {minutes} min.',
      secret: 'Ne dijelite ga ni s kim.',
    },
    hu: {
      named: '{code} az Ön kódja ({app}).',
      bare: '{code} az Ön kódja.',
      valid: '{minutes} percig érvényes.',
      secret: 'Ne ossza meg.',
    },
    id: {
      named: '{code} adalah kode {app} Anda.',
      bare: '{code} adalah kode verifikasi Anda.',
      valid: 'Berlaku {minutes} menit.',
      secret: 'Jangan berikan kepada siapa pun.',
    },
    is: {
      named: '{code} er {app} kóðinn þinn.',
      bare: '{code} er kóðinn þinn.',
      valid: 'Gildir í {minutes} mín.',
      secret: 'Ekki deila honum.',
    },
    it: {
      named: '{code} è il tuo codice {app}.',
      bare: '{code} è il tuo codice di verifica.',
      valid: 'Scade tra {minutes} min.',
      secret: 'Non condividerlo.',
    },
    ja: {
      named: '{code} は {app} の認証コードです。',
      bare: '{code} が認証コードです。',
      valid: '{minutes}分間有効です。',
      secret: '他人に教えないでください。',
    },
    ko: {
      named: '인증번호 {code} ({app}).',
      bare: '인증번호 {code}.',
      valid: '{minutes}분간 유효합니다.',
      secret: '타인에게 알려주지 마세요.',
    },
    lt: {
      named: '{code} yra {app} kodas.',
      bare: '{code} yra patvirtinimo kodas.',
      valid: 'Galioja {minutes} min.',
      secret: 'Niekam jo neatskleiskite.',
    },
    lv: {
      named: '{code} ir {app} kods.',
      bare: '{code} ir jūsu kods.',
      valid: 'Derīgs {minutes} min.',
      secret: 'Nevienam to neizpaudiet.',
    },
    mk: {
      named: '{code} е вашиот код за {app}.',
      bare: '{code} е вашиот код.',
      valid: 'Важи {minutes} мин.',
      secret: 'Не го споделувајте.',
    },
    ms: {
      named: '{code} ialah kod {app} anda.',
      bare: '{code} ialah kod pengesahan anda.',
      valid: 'Sah selama {minutes} minit.',
      secret: 'Jangan kongsi dengan sesiapa.',
    },
    nb: {
      named: '{code} er koden din for {app}.',
      bare: '{code} er bekreftelseskoden din.',
      valid: 'Gyldig i {minutes} min.',
      secret: 'Ikke del den med noen.',
    },
    nl: {
      named: '{code} is je code voor {app}.',
      bare: '{code} is je verificatiecode.',
      valid: '{minutes} min geldig.',
      secret: 'Deel deze met niemand.',
    },
    pl: {
      named: '{code} to kod weryfikacyjny {app}.',
      bare: '{code} to kod weryfikacyjny.',
      valid: 'Wygasa za {minutes} min.',
      secret: 'Nie podawaj go nikomu.',
    },
    // One wording for Portugal and Brazil: they differ in "partilhe" and "compartilhe", so it uses neither.
    pt: {
      named: '{code} é o seu código {app}.',
      bare: '{code} é o seu código.',
      valid: 'Válido por {minutes} min.',
      secret: 'Não o divulgue.',
    },
    ro: {
      named: '{code} este codul de verificare {app}.',
      bare: '{code} este codul de verificare.',
      valid: 'Valabil {minutes} min.',
      secret: 'Nu divulga acest cod.',
    },
    ru: {
      named: '{code} — ваш код {app}.',
      bare: '{code} — ваш код.',
      valid: 'Действует {minutes} мин.',
      secret: 'Никому не сообщайте.',
    },
    sk: {
      named: '{code} je váš kód pre {app}.',
      bare: '{code} je váš kód.',
      valid: 'Platí {minutes} min.',
      secret: 'Nikomu ho neprezraďte.',
    },
    sl: {
      named: '{code} je koda za {app}.',
      bare: '{code} je koda za potrditev.',
      valid: 'Velja {minutes} min.',
      secret: 'Ne delite je z nikomer.',
    },
    sq: {
      named: '{code} është kodi juaj {app}.',
      bare: '{code} është kodi juaj.',
      valid: 'Vlen {minutes} min.',
      secret: 'Mos ia jepni askujt.',
    },
    sr: {
      named: '{code} је ваш код за {app}.',
      bare: '{code} је ваш код.',
      valid: 'Важи {minutes} мин.',
      secret: 'Не делите га ни са ким.',
    },
    'sr-Latn': {
      named: '{code} je vaš kod za {app}.',
      bare: '{code} je vaš kod.',
      valid: 'Važi {minutes} min.',
      secret: 'Ne delite ga ni sa kim.',
    },
    sv: {
      named: '{code} är din kod för {app}.',
      bare: '{code} är din verifieringskod.',
      valid: 'Gäller i {minutes} min.',
      secret: 'Dela den inte med någon.',
    },
    sw: {
      named: '{code} ni msimbo wako wa {app}.',
      bare: '{code} ni msimbo wako wa uthibitishaji.',
      valid: 'Utaisha baada ya dakika {minutes}.',
      secret: 'Usimpe mtu yeyote.',
    },
    th: {
      named: '{code} คือรหัส {app} ของคุณ',
      bare: '{code} คือรหัสของคุณ',
      valid: 'ใช้ได้ {minutes} นาที',
      secret: 'ห้ามบอกผู้อื่น',
    },
    tr: {
      named: '{code}, {app} kodunuz.',
      bare: '{code}, onay kodunuz.',
      valid: 'Süre: {minutes} dk.',
      secret: 'Kimseye söylemeyin.',
    },
    uk: {
      named: '{code} — ваш код {app}.',
      bare: '{code} — ваш код.',
      valid: 'Діє {minutes} хв.',
      secret: 'Нікому не повідомляйте.',
    },
    ur: {
      named: '{code} آپ کا {app} کوڈ ہے۔',
      bare: '{code} آپ کا کوڈ ہے۔',
      valid: '{minutes} منٹ تک کارآمد ہے۔',
      secret: 'کسی کو نہ بتائیں۔',
    },
    vi: {
      named: '{code} là mã {app}.',
      bare: '{code} là mã của bạn.',
      valid: 'Hiệu lực {minutes} phút.',
      secret: 'Không chia sẻ mã này.',
    },
    'zh-Hans': {
      named: '{code} 是您的 {app} 验证码。',
      bare: '{code} 是您的验证码。',
      valid: '{minutes} 分钟内有效。',
      secret: '请勿告知他人。',
    },
    'zh-Hant': {
      named: '{code} 是您的 {app} 驗證碼。',
      bare: '{code} 是您的驗證碼。',
      valid: '{minutes} 分鐘內有效。',
      secret: '請勿告知他人。',
    },
  } satisfies Record<string, Translation>),
);

/** Languages whose readers understand another: both Norwegians, Bosnian and Croatian, Cantonese and written Chinese. */
const readsAs: ReadonlyMap<string, string> = new Map([
  ['no', 'nb'],
  ['nn', 'nb'],
  ['bs', 'hr'],
  ['yue', 'zh'],
]);

export const longestLocale = 35;

/** The shape of a BCP 47 tag, as XML Schema's `language` has it: which parts there are is for the lookup. */
const tag = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/;
/** For the reference. */
export const localePattern = tag.source;

/** Completes "locale …", or undefined. 35 characters hold every tag without extensions (RFC 5646, section 4.4.1). */
export function localeProblem(locale: string): string | undefined {
  if (locale.length > longestLocale) return `must have at most ${longestLocale} characters, this has ${locale.length}`;
  return !tag.test(locale) ? 'must be a BCP 47 language tag, like en, pt-BR or zh-Hant' : undefined;
}

/**
 * The translation for a locale; English without a locale or a translation. Script and language match before the
 * language alone, and the region implies the script: zh-TW is zh-Hant.
 */
export function translationOf(locale: string | null): Translation {
  return translations.get(languageOf(locale)) ?? english;
}

/** The language whose translation a locale gets, like `en` or `zh-Hans`. */
export function languageOf(locale: string | null): string {
  const likely = locale === null ? undefined : read(locale)?.maximize();
  if (likely === undefined) return 'en';
  const language = readsAs.get(likely.language) ?? likely.language;
  const found = [`${language}-${likely.script}`, language].find((each) => translations.has(each));
  return found ?? 'en';
}

/** Undefined for a tag that names no language. It never throws, because the text must still be sent. */
function read(locale: string): Intl.Locale | undefined {
  if (!tag.test(locale)) return undefined;
  for (const text of [locale, headOf(locale)]) {
    try {
      return new Intl.Locale(text);
    } catch {
      // The head is next: Intl refuses a tag that repeats a later part.
    }
  }
  return undefined;
}

/** Language, script and region. */
function headOf(locale: string): string {
  const parts = locale.split('-');
  const end = parts.findIndex((part, index) => index > 0 && !/^(?:[A-Za-z]{4}|[A-Za-z]{2}|[0-9]{3})$/.test(part));
  return parts.slice(0, end < 0 ? 1 : end).join('-');
}
