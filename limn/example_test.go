package limn_test

import (
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/limn"
)

func ExampleLoadPack() {
	pack, err := limn.LoadPack([]byte(`{
		"name": "lamps", "type": "test",
		"vocabulary": [{"word": "lamp", "category": "noun"}],
		"verbs": [{
			"word": "dim",
			"slots": [{"name": "level", "connective": null, "required": true, "value_type": "value"}],
			"execution": {"type": "set_value", "target_name": "brightness", "source_slot": "level"}
		}],
		"declarations": [["load", "number"]],
		"sequence": [["load", 90], "[done]"]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	opts := &limn.Options{Packs: []*limn.Pack{pack}}
	program := limn.Parse("lamps.limn", "dim 30\nwhen load is above 80:\n  show brightness\n", opts)
	m := limn.NewMachine(opts)
	for r := range m.Run(program) {
		fmt.Println(r.Status)
	}
	for r := range m.Listen(slices.Values(pack.Sequence)) {
		fmt.Println(r.Status, r.Output)
	}
	// Output:
	// success
	// success
	// listening []
	// handler_fire [30]
	// shutdown []
}
