/** A person hears digits better a little slower than a voice usually speaks. */
const rate = 0.85;

export const canSpeak = (): boolean => 'speechSynthesis' in window;

/** Speaks what a call says. Each sentence is an utterance of its own: browsers cut long ones off. */
export function speak(text: string, language: string, onEnd: () => void): void {
  const { speechSynthesis } = window;
  speechSynthesis.cancel();
  const sentences = text.split(/(?<=[.:。।])\s+/u).map((sentence) => {
    const utterance = new SpeechSynthesisUtterance(sentence);
    utterance.lang = language;
    utterance.rate = rate;
    return utterance;
  });
  const last = sentences.at(-1);
  for (const sentence of sentences) {
    sentence.addEventListener('error', onEnd);
    if (sentence === last) sentence.addEventListener('end', onEnd);
    speechSynthesis.speak(sentence);
  }
}

export function stopSpeaking(): void {
  if (canSpeak()) window.speechSynthesis.cancel();
}
