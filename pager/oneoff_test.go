package pager

import (
	"testing"

	"github.com/carrel-dev/carrel/internal/shell"
)

func TestOneOff(t *testing.T) {
	for line, want := range map[string]bool{
		"find . -name '*.go'":                true,
		"rg -n 'func main' cmd":              true,
		"tree -L 2":                          true,
		"npm test":                           true,
		"npm run test:unit -- --watch=false": true,
		"cd /srv/app && go test ./... 2>&1 | tail -20":          true,
		"CI=1 GOFLAGS=-race go test ./pool":                     true,
		"git status --short; git log -3 && git diff HEAD~1":     true,
		"git -C sub --no-pager show HEAD:a.go":                  true,
		"ls -la\ncat go.mod\nhead -5 main.go | wc -l":           true,
		"timeout 30s sudo nice -n 10 grep -r x /etc >/dev/null": true,
		`bash -lc "cd x && ls | wc -l"`:                         true,
		"bash -lc cd x && rg foo":                               true,
		"(cd web && npx tsc --noEmit) || echo failed":           true,
		"python3 -m pytest -q":                                  true,
		"uv run pytest tests":                                   true,
		"mise run test:ci 2>&1 | tail -5":                       true,
		"just lint && rtk git diff":                             true,
		"eslint src && ruff check . && ruff format --check .":   true,
		"gradle test check --tests ShopTest":                    true,
		"mvn test -pl shop":                                     true,
		"make test -j 4 V=1 && make -n install":                 true,
		"npm run type-check && npm run test:unit":               true,
		"python -m ruff format --diff .":                        true,
		"rubocop -l && npm audit && go env GOFLAGS":             true,
		"eslint --fix src":                                      false,
		"ruff format .":                                         false,
		"python3 -m ruff format .":                              false,
		"ruff check --fix .":                                    false,
		"golangci-lint run --fix":                               false,
		"golangci-lint fmt":                                     false,
		"rubocop -A":                                            false,
		"cargo clippy --fix":                                    false,
		"npm audit fix":                                         false,
		"go env -w GOFLAGS=-mod=mod":                            false,
		"go test ./... -update":                                 false,
		"jest -u":                                               false,
		"pytest --snapshot-update":                              false,
		"npm test -- --fix":                                     false,
		"make check install":                                    false,
		"mvn test deploy":                                       false,
		"gradle test publish":                                   false,
		"npm run test-and-publish":                              false,
		"npm run build:deploy":                                  false,
		"npm run lint:fix":                                      false,
		"npm run checkout":                                      false,
		"just deploy":                                           false,
		"make test":                                             true,
		"sed -n '1,40p' main.go":                                true,
		"echo 'a > b; rm -rf /'":                                true,
		"for f in a b; do cat $f; done":                         true,
		"go build ./... && ./server":                            false,
		"npm install":                                           false,
		"npm run deploy":                                        false,
		"npm run":                                               false,
		"just":                                                  false,
		"just test":                                             true,
		"npm":                                                   false,
		"make":                                                  false,
		"ssh build 'go test ./...'":                             false,
		"tox -a && mocha -u tdd -w":                             true,
		"rubocop -a":                                            false,
		"golangci-lint run cache":                               true,
		"npm test fix && npm audit signatures":                  true,
		"npm run build3":                                        false,
		"npm run :":                                             false,
		"python3 -m":                                            false,
		"python3 -m unittest":                                   true,
		"python -m py_compile a.py":                             true,
		"python -m http.server":                                 false,
		"python pytest":                                         false,
		"yarn run tsc":                                          true,
		"go":                                                    false,
		"npm install test":                                      false,
		"npm ls test":                                           true,
		"git commit -m 'find it'":                               false,
		"git branch -D old":                                     false,
		"git branch -a":                                         true,
		"git config user.name x":                                false,
		"cat a.txt > b.txt":                                     false,
		"cat > a.go <<'EOF'\npackage a // ls\nEOF":              false,
		"rg x | xargs rm":                                       false,
		"find . -name '*.tmp' -delete":                          false,
		"sed -i s/a/b/ main.go":                                 false,
		"echo $(make deploy)":                                   false,
		"echo `make deploy`":                                    false,
		"ls && rm -rf build":                                    false,
		"cd /srv":                                               false, // looks at nothing
		"":                                                      false,
		"'unclosed":                                             false,
		`bash -c "bash -c 'bash -c \"bash -c \\\"ls\\\"\"'"`: true,
		"timeout -k 5 60 npx -p x jest":                      true,
		"(cd web && sed -ni 1p a.go)":                        false,
		"find . -name a -exec grep -l x {} +":                true,
		"find . -name a -exec rm {} +":                       false,
		"sort -o a.txt a.txt":                                false,
		"python -c 'print(1)'":                               false,
		"grep -q x f 2>err.log":                              false,
		"go vet ./... &> /dev/null":                          true,
		"docker ps && kubectl get pods":                      true,
		"gh pr view 12 && gh run list":                       true,
		"gh pr create --fill":                                false,
	} {
		if got := OneOff(line); got != want {
			t.Errorf("OneOff(%q) = %t, want %t", line, got, want)
		}
	}
}

func TestRewrites(t *testing.T) {
	for line, want := range map[string]bool{
		"cat > a.go <<'EOF'\npackage a\nEOF":                   true,
		"cat <<EOF | tee a.go\npackage a\nEOF":                 true,
		"apply_patch <<'P'\n*** Begin Patch\n*** End Patch\nP": true,
		"apply_patch *** Begin Patch\n*** Update File: a.go":   true,
		"cd x && git apply fix.patch":                          true,
		"git am fix.patch":                                     true,
		"git log apply":                                        false,
		"sed -i.bak 's/a/b/' main.go":                          true,
		"perl -pi -e 's/a/b/' main.go":                         true,
		`bash -lc "sed -i s/a/b/ main.go"`:                     true,
		"python3 - <<'EOF'\nprint(1)\nEOF":                     false,
		"python3 - <<'EOF'\nopen('a.go', 'w').write('x')\nEOF": true,
		"sed -n 1,5p main.go":                                  false,
		"timeout 60 sed -Ei s/a/b/ main.go":                    true,
		"(cd x && perl -wi.bak -pe s/a/b/ main.go)":            true,
		"for f in a b; do gsed -i s/a/b/ $f; done":             true,
		"sed -n '/init/p' main.go":                             false,
		"git commit -m 'apply_patch'":                          false,
		"go test ./... > out.txt":                              false,
	} {
		l, err := shell.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := rewrites(line, l); got != want {
			t.Errorf("rewrites(%q) = %t, want %t", line, got, want)
		}
	}
}

func FuzzOneOff(f *testing.F) {
	f.Add("cd x && (ls | wc) >/dev/null 2>&1; cat <<EOF\nx\nEOF\n")
	f.Add("bash -c \"bash -c 'ls'\" `a` $(b) \\")
	f.Fuzz(func(t *testing.T, line string) {
		if l, err := shell.Parse(line); err == nil && oneOff(l) && rewrites(line, l) {
			t.Errorf("%q only looks, and edits files", line)
		}
	})
}
