package token

// LoadedEarly reports whether making Counters loaded any tables. It is set
// before the first test runs, while no test can have counted anything.
var LoadedEarly = func() bool {
	for _, name := range []string{"o200k_base", "cl100k_base", "o200k_base*1.35", "estimate"} {
		if _, err := Encoding(name); err != nil {
			panic(err)
		}
	}
	for _, model := range []string{"gpt-4o", "gpt-4", "claude-opus-4-1", "gemini-2.5-pro", ""} {
		ForModel(model)
	}
	return o200k.tokens.Loaded() || cl100k.tokens.Loaded()
}()

// Loaded reports whether the tables of o200k_base are loaded.
func Loaded() bool { return o200k.tokens.Loaded() }

// RaceEnabled is raceEnabled.
const RaceEnabled = raceEnabled
