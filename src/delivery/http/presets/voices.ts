/** Twilio's `language` of `<Say>`. Its voices do not speak the other languages of texts. */
export const twilioVoices: Readonly<Record<string, string>> = {
  ...byRegion(
    'af-ZA bg-BG bn-IN ca-ES cs-CZ da-DK de-DE el-GR en-US es-ES fi-FI fil-PH fr-FR he-IL hi-IN hu-HU id-ID is-IS it-IT',
  ),
  ...byRegion('ja-JP ko-KR lv-LV ms-MY nb-NO nl-NL pl-PL pt-BR ro-RO ru-RU sk-SK sr-RS sv-SE th-TH tr-TR uk-UA vi-VN'),
  ...{ ar: 'ar-XA', 'sr-Latn': 'sr-RS', 'zh-Hans': 'cmn-CN', 'zh-Hant': 'cmn-TW' },
};

/** Vonage's `language` of a talk action. */
export const vonageVoices: Readonly<Record<string, string>> = { ...twilioVoices, ar: 'ar' };

/** Infobip's languages of speech. */
export const infobipVoices: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'ar bg bn ca cs da de el en es fi fr he hi hr hu id is it ja ko ms nl pl ro ru sk sl sv th tr uk vi'
      .split(' ')
      .map((language) => [language, language]),
  ),
  ...{ fil: 'fil-ph', nb: 'no', pt: 'pt-br', ur: 'ur-pk', 'zh-Hans': 'zh-cn', 'zh-Hant': 'zh-tw' },
};

function byRegion(tags: string): Record<string, string> {
  return Object.fromEntries(tags.split(' ').map((tag) => [tag.split('-', 1)[0] ?? tag, tag]));
}
