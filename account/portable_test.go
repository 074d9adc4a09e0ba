package account_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/account"
)

// On every processor an account of the same conversation has the same bytes.
func TestAccountIsPortable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same each time
	word := func() string {
		return []string{"lamp", "bulb.go", "src/main.go", "must not fail", "42 passed", "panic: no bulb", "aName", "because", "fixed"}[rng.IntN(9)]
	}
	said := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, []string{" ", ". ", "\n"}[rng.IntN(3)])
	}
	talk := new(talk).user("Mend the lamp. Never touch the socket.")
	for i := range 60 {
		switch i % 5 {
		case 0:
			talk.agent(said(12))
		case 1:
			talk.bash("go test ./"+word(), said(30))
		case 2:
			talk.call("Read", fmt.Sprintf(`{"file_path":"/w/p/x/%d.go"}`, i), said(40))
		case 3:
			talk.call("Edit", fmt.Sprintf(`{"file_path":"/w/p/x/%d.go","old_string":"a","new_string":"%s"}`, i, word()), "ok")
		default:
			talk.user(said(6))
		}
	}
	r := request(talk)
	r.Budget = 4000
	p, err := account.Make(r)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(account.Text(r.Units, p.Kept, "12345678") + fmt.Sprint(p.Whole, p.Tokens)))
	if got, want := hex.EncodeToString(sum[:6]), "6cacf118943e"; got != want {
		t.Errorf("the account is %s, want %s: it has changed, or depends on the processor", got, want)
	}
}
