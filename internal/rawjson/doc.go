// Package rawjson reads JSON by position and changes it by cutting.
//
// A [Reader] walks over a text once, checks all of it and hands out values or
// the spans that they occupy, so that a program can look at a few fields and
// leave every byte of the others alone. Whoever changes a text replaces spans
// of it; [Remove] finds those that take elements out. So nothing is decoded and
// encoded again: numbers, the order of keys, spacing and escapes survive. A [Document]
// edits the body of a request to a model in this way, without copying or allocating, and
// refuses what is not read alike by everyone.
//
// Strings are most of a text. They are looked at by words of eight bytes, long ones by
// blocks of eight words, about 3 GB/s where escapes are rare and 1 GB/s where every
// twentieth byte is one.
//
// The reader takes the JSON of RFC 8259 and is stricter than encoding/json in
// one point: an object that it is asked to look into may not have the same key
// twice, however the key is spelled. What it only passes over may. Strings
// that are not valid Unicode are read with U+FFFD in place of what is wrong,
// and [Reader.Lossy] tells so.
//
// Offsets are in bytes from the beginning of the text. Errors are [*Error].
// A Reader is for one goroutine; everything else is pure.
package rawjson
