// Answers requests on standard input with the tokens of the npm package tiktoken.
//
// A request is the byte of what is asked (0: the tokens, 1: their number), that of the
// encoding (0: o200k_base, 1: cl100k_base), the length of the text in four bytes, the
// lowest first, and the text. An answer is the processor time of the encoding in
// microseconds, the number of tokens and, if they are asked for, the tokens, in four
// bytes each.
const { get_encoding } = require("tiktoken");
const fs = require("fs");

const encodings = [get_encoding("o200k_base"), get_encoding("cl100k_base")];

function read(size) {
  const buffer = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const n = fs.readSync(0, buffer, at, size - at, null);
    if (n === 0) process.exit(0);
    at += n;
  }
  return buffer;
}

function write(buffer) {
  for (let at = 0; at < buffer.length; ) at += fs.writeSync(1, buffer, at);
}

for (;;) {
  const head = read(6);
  const text = read(head.readUInt32LE(2)).toString("utf8");
  const start = process.cpuUsage();
  const ids = encodings[head[1]].encode_ordinary(text);
  const used = process.cpuUsage(start);
  const answer = new Uint32Array(head[0] === 0 ? 2 + ids.length : 2);
  answer[0] = used.user + used.system;
  answer[1] = ids.length;
  if (head[0] === 0) answer.set(ids, 2);
  write(Buffer.from(answer.buffer));
}
