package admin

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/jsonschema"
	"github.com/carrel-dev/carrel/transcript"
)

// schemas are JSON Schemas of documents that other programs read or write.
//
//go:embed schema/*.json
var schemas embed.FS

// A schemaInfo describes a schema.
type schemaInfo struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

func newSchema(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of a document",
		Long: `Schema prints the JSON Schema (draft 2020-12) of a document that other programs may
read or write, or lists the schemas. "carrel debug schema check" holds a file against one.`,
		Example: `  carrel debug schema state > state.schema.json
  carrel state | carrel debug schema check state -`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSchema,
		Annotations:       job.WithoutFiles(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				text, err := schemaText(args[0])
				if err != nil {
					return err
				}
				return j.Write(job.Output{}, text)
			}
			infos, err := schemaInfos()
			if err != nil {
				return err
			}
			return j.List("schemas", map[string]any{"schemas": infos}, "schemas", func(p *out.Page) {
				t := &out.Table{Head: []string{"name", "describes"}}
				for _, i := range infos {
					t.Add(i.Name, i.Title)
				}
				p.Table(t)
			})
		},
	}
	cmd.AddCommand(newSchemaCheck(j))
	return cmd
}

func newSchemaCheck(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "check NAME FILE|-",
		Short: "Tell whether a file fits a schema",
		Long: `Check compares a JSON file with the schema of that name and lists each invalid
field with the reason. If there is one, the exit code is 1.`,
		Example:               `  carrel state | carrel debug schema check state -`,
		Args:                  cobra.ExactArgs(2),
		ValidArgsFunction:     completeSchema,
		Annotations:           job.WithoutFiles(),
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := j.Read(args[1])
			if err != nil {
				return err
			}
			problems, err := checkSchema(args[0], args[1], data)
			if err != nil {
				return err
			}
			value := struct {
				File     string               `json:"file"`
				Name     string               `json:"name"`
				OK       bool                 `json:"ok"`
				Problems []jsonschema.Problem `json:"problems"`
			}{args[1], args[0], len(problems) == 0, problems}
			err = j.Result("schema-check", value, func(p *out.Page) {
				t := &out.Table{Head: []string{"field", "problem"}}
				for _, q := range problems {
					t.Add(q.Field, q.Text)
				}
				if value.OK {
					p.Line("%s ok", args[0])
				} else {
					p.Table(t)
				}
			})
			if err == nil && !value.OK {
				return out.ErrNo
			}
			return err
		},
	}
}

// completeSchema offers the names of schemas for the first argument, and files for later ones.
func completeSchema(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return schemaNames(), cobra.ShellCompDirectiveNoFileComp
}

// schemaNames returns the names of all schemas, sorted.
func schemaNames() []string {
	entries, _ := schemas.ReadDir("schema") // embedded, so it cannot fail
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

func schemaText(name string) ([]byte, error) {
	if err := out.OneOf("schema", name, schemaNames()...); err != nil {
		return nil, err
	}
	return schemas.ReadFile(path.Join("schema", name+".json"))
}

func schemaInfos() ([]schemaInfo, error) {
	var infos []schemaInfo
	for _, name := range schemaNames() {
		text, err := schemaText(name)
		if err != nil {
			return nil, err
		}
		var head struct {
			ID    string `json:"$id"`
			Title string `json:"title"`
		}
		if err := json.Unmarshal(text, &head); err != nil {
			return nil, fmt.Errorf("read the built-in schema %s: %w", name, err)
		}
		infos = append(infos, schemaInfo{name, head.ID, head.Title})
	}
	return infos, nil
}

// checkSchema validates a file against a schema.
func checkSchema(name, file string, data []byte) ([]jsonschema.Problem, error) {
	text, err := schemaText(name)
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("read the built-in schema %s: %w", name, err)
	}
	problems, err := schema.Check(data)
	if err != nil {
		return nil, notJSON(file, data, err)
	}
	return append([]jsonschema.Problem{}, problems...), nil // an empty list in JSON, not null
}

// notJSON returns the error that a file is not JSON, with the line.
func notJSON(file string, data []byte, err error) error {
	bad := &transcript.SyntaxError{Name: file, Text: "it is not JSON: " + err.Error()}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		bad.Line = 1 + bytes.Count(data[:min(e.Offset, int64(len(data)))], []byte("\n"))
	}
	return bad
}
