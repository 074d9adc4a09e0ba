#!/usr/bin/env bash
#
# make.sh CARREL FOLDER writes store.db in the current folder with the program CARREL, which is
# an earlier build, and expected.txt with all that this build can give back. FOLDER holds the
# conversations of internal/cli/testdata/conversations and compacted.jsonl. TestEarlierStore
# opens the store with the present build and asks for the same.
set -euo pipefail
carrel=$1 in=$2
export CARREL_NOW=2026-03-01T09:00:00Z CARREL_STORE=$PWD/store.db
"$carrel" demo --keep demo >demo.txt
"$carrel" -s demo/carrel.db undo -y >/dev/null
demo=$("$carrel" -s demo/carrel.db sessions --jq '.sessions[0].session')
"$carrel" -s demo/carrel.db export "$demo" -o demo.jsonl
"$carrel" import "$in"/{claude.jsonl,anthropic.json,openai.json,history.json,torn.jsonl,compacted.jsonl} demo.jsonl >/dev/null
lantern=5f0c2a7e-91d4-4b36-8a51-0d6f3e9b1c20

# A window behind a summary, then lines, then a block that the agent lets go, with a pin, an undo and a contract.
"$carrel" pin "$("$carrel" messages "$demo" --jq '.messages[20].id')" "$("$carrel" messages "$demo" --jq '.messages[7].id')" >/dev/null
"$carrel" compress "$demo" --target 40% --strategy anchored >/dev/null
"$carrel" compress "$demo" --target 25% >/dev/null
"$carrel" compress "$demo" --target 15% >/dev/null
"$carrel" undo --session "$demo" -y >/dev/null
"$carrel" contract add "$demo" --decision pin-go-1.26 --correction 'run before claiming' --question 'who owns the ledger?' >/dev/null
"$carrel" pin "$("$carrel" messages "$lantern" --jq '.messages[3].id')" >/dev/null
"$carrel" compress "$lantern" --target 30% >/dev/null
"$carrel" compress oa-f99c4bd6e1713f45 --target 70% --strategy pager >/dev/null || true

# Artifacts, a context, a memory through the gate, one that is held, one refuted, a stash and a token.
printf 'The three profiles of the VPN are meant for production, staging and the laboratory.\n' >vpn.txt
"$carrel" put vpn.txt --type doc --id vpn --title 'VPN profiles' >/dev/null
printf 'Profile A is out of use.\n' | "$carrel" put - --type memory --id old --title 'Profile A' >/dev/null
"$carrel" pin vpn >/dev/null
"$carrel" assemble --query 'which profile for staging' --budget 4000 -o context.txt >/dev/null
"$carrel" commit @last --text 'Staging is reached with profile B.' --confidence .7 --evaluator rules >/dev/null
"$carrel" commit @last --text 'The laboratory had profile C.' --confidence .69 --evaluator rules >/dev/null || true
"$carrel" refute old -y >/dev/null 
seq 1 400 | "$carrel" stash put - >/dev/null
"$carrel" token create --actor ci --expires never >token.txt
"$carrel" store check >/dev/null

# What the build has in it, a line each.
sum() { sha256sum | cut -d ' ' -f 1; }
for s in $("$carrel" sessions --jq '.sessions[].session'); do
	for b in $("$carrel" messages "$s" --jq '.messages[].id'); do
		"$carrel" messages "$s" --jq ".messages[] | select(.id == \"$b\") |
			\"block $s \(.id) \(.state) \(if .pinned then \"pinned\" else \"free\" end) $("$carrel" recall "$b" | sum)\""
	done
	"$carrel" contract show "$s" >contract.limn
	if [[ -s contract.limn ]]; then echo "contract $s $(sum <contract.limn)"; fi
	"$carrel" log --session "$s" --jq ".entries[] | \"entry $s \(.version) \(.op) \(.id)\""
done >expected.txt
for a in $("$carrel" ls --jq '.artifacts[].id'); do
	echo "artifact $a $("$carrel" get "$a" | sum)"
done >>expected.txt
for m in $("$carrel" manifest list --jq '.manifests[].id'); do
	echo "context $m $("$carrel" manifest replay "$m" | sum)"
done >>expected.txt
