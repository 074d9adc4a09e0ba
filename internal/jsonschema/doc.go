// Package jsonschema checks JSON documents against JSON Schemas and lists all problems.
//
// It supports the part of draft 2020-12 that Carrel's schemas use:
//
//	$ref $defs            to a place in the same schema, such as "#/$defs/text"
//	type enum const       of any value
//	minimum maximum       of numbers
//	minLength pattern     of strings, counted in characters
//	minItems uniqueItems items
//	required minProperties properties additionalProperties propertyNames
//	if then else
//
// $schema, $id, $comment, title, description and format are ignored, because they do not
// restrict documents. A schema with any other keyword is an error.
//
// The package is small because it is linked into a program that must start fast: it does no
// work before it is called, and reads only the schema in use. Its tests compare it with a
// complete implementation.
package jsonschema
