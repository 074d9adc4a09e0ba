// Package jsonschema holds JSON documents against JSON Schemas and lists all that
// does not fit.
//
// It knows the part of draft 2020-12 that the schemas of Carrel are written in:
//
//	$ref $defs            to a place in the same schema, such as "#/$defs/text"
//	type enum const       of any value
//	minimum maximum       of numbers
//	minLength pattern     of strings, counted in characters
//	minItems uniqueItems items
//	required minProperties properties additionalProperties propertyNames
//	if then else
//
// $schema, $id, $comment, title, description and format are read past: they say
// nothing that could fit or not. A schema with any other keyword is an error and
// not half understood.
//
// The package is small because it has to be linked into a program whose start is
// cheap: it does no work before it is called, and of a schema it reads nothing but
// the schema. Its tests hold it against a complete implementation.
package jsonschema
