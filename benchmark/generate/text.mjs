// Text of several scripts, put together from words, cut to a number of UTF-8 bytes.

const words = {
  ascii: 'the quick brown fox jumps over a lazy dog while seven wizards box in the dim light'.split(' '),
  cyrillic: 'заказ был доставлен вчера вечером и клиент остался доволен качеством нашего товара'.split(' '),
  chinese: '订单 已于 昨天 晚上 送达 客户 对 商品 质量 非常 满意 欢迎 再次 光临 本店'.split(' '),
  accented: 'déjà été où façade naïve über größer señor ação crème brûlée gâteau forêt île'.split(' '),
  emoji: 'great 🎉 thanks 👍🏽 family 👨‍👩‍👧 see 🇫🇷 you ❤️ soon 😀 ok 🚀'.split(' '),
};

/** @typedef {keyof typeof words} Script */

/**
 * @param {import('./random.mjs').Random} random
 * @param {Script} script
 * @param {number} bytes the most UTF-8 bytes; the text ends with a whole word
 */
export function text(random, script, bytes) {
  const parts = [];
  for (let length = 0; ; ) {
    const word = random.pick(words[script]);
    length += Buffer.byteLength(word) + 1;
    if (length > bytes) return parts.join(' ');
    parts.push(word);
  }
}

/** A short text of a number of words. */
export function phrase(random, count) {
  return Array.from({ length: count }, () => random.pick(words.ascii)).join(' ');
}
