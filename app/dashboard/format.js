// Numbers and times as people read them.

const prefixes = ["", "k", "M", "G", "T"];

function scaled(value, unit) {
  let step = 0;
  while (Math.abs(value) >= 999.5 && step < prefixes.length - 1) {
    value /= 1000;
    ++step;
  }
  const digits = step === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const space = unit || prefixes[step] ? " " : "";
  return `${value.toFixed(digits)}${space}${prefixes[step]}${unit}`;
}

/** Bits per second. */
export const rate = (bits) => scaled(bits, "bit/s");
/** Things per second. */
export const perSecond = (count) => `${scaled(count, "")}/s`;
export const bytes = (count) => scaled(count, "B");
/** A count to the last one: "1,234,567". */
export const whole = (count) => count.toLocaleString("en");

export function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${days} d ${hours % 24} h`;
}

/** Of the day, here: "12:03:04". */
export const clock = (date) => date.toLocaleTimeString("en-GB");
