package cli

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/jsonschema"
	"github.com/carrel-dev/carrel/transcript"
)

// schemas are JSON Schemas of documents that other programs read or write.
//
//go:embed schema/*.json
var schemas embed.FS

// A schemaInfo names a schema.
type schemaInfo struct {
	Name  string `json:"name"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

func newSchema(_ *Env, g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of a document",
		Long: `Schema prints the JSON Schema (draft 2020-12) of a document that other programs
may read or write, or lists the schemas. "carrel schema check" holds a file
against one.`,
		Example: `  carrel schema state > state.schema.json
  carrel state | carrel schema check state -`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSchema,
		Annotations:       withoutFiles(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				text, err := schemaText(args[0])
				if err != nil {
					return err
				}
				return g.write(output{}, text)
			}
			infos, err := schemaInfos()
			if err != nil {
				return err
			}
			return g.result(document{"schemas", map[string]any{"schemas": infos}, "schemas"}, func(p *page) {
				t := &table{head: []string{"name", "what it describes"}}
				for _, i := range infos {
					t.add(i.Name, i.Title)
				}
				p.table(t)
			})
		},
	}
	cmd.AddCommand(newSchemaCheck(g))
	return cmd
}

func newSchemaCheck(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "check NAME FILE|-",
		Short: "Tell whether a file fits a schema",
		Long: `Check holds a JSON file against the schema of that name and lists each field that
does not fit, with what is wrong. If there is one, the exit code is 1.`,
		Args:                  cobra.ExactArgs(2),
		ValidArgsFunction:     completeSchema,
		Annotations:           withoutFiles(),
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := g.read(args[1])
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
			err = g.result(document{name: "schema-check", value: value}, func(p *page) {
				t := &table{head: []string{"field", "what is wrong"}}
				for _, q := range problems {
					t.add(q.Field, q.Text)
				}
				if value.OK {
					p.line("%s ok", args[0])
				} else {
					p.table(t)
				}
			})
			if err == nil && !value.OK {
				return errNo
			}
			return err
		},
	}
}

// completeSchema offers the names of schemas for the first argument, and files
// for others.
func completeSchema(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return schemaNames(), cobra.ShellCompDirectiveNoFileComp
}

// schemaNames returns the names of all schemas, sorted.
func schemaNames() []string {
	entries, _ := schemas.ReadDir("schema") // it is in the program
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

func schemaText(name string) ([]byte, error) {
	if err := oneOf("schema", name, schemaNames()...); err != nil {
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
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		infos = append(infos, schemaInfo{name, head.ID, head.Title})
	}
	return infos, nil
}

// checkSchema holds a file against a schema.
func checkSchema(name, file string, data []byte) ([]jsonschema.Problem, error) {
	text, err := schemaText(name)
	if err != nil {
		return nil, err
	}
	schema, err := jsonschema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	problems, err := schema.Check(data)
	if err != nil {
		return nil, notJSON(file, data, err)
	}
	return append([]jsonschema.Problem{}, problems...), nil // in JSON a list, also if it is empty
}

// notJSON returns an error about a file that is not JSON.
func notJSON(file string, data []byte, err error) error {
	bad := &transcript.SyntaxError{Name: file, Text: "it is not JSON: " + err.Error()}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		bad.Line = 1 + bytes.Count(data[:min(e.Offset, int64(len(data)))], []byte("\n"))
	}
	return bad
}
