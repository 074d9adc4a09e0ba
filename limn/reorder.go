package limn

// reorder moves the verb of a statement to the front if only articles and names precede it.
// It records a fault if the statement has no verb and is no call.
func (p *parser) reorder() {
	start := p.prefix()
	first := p.toks[start]
	if first.is(kwCombine) {
		return
	}
	i := start
	for p.toks[i].kind == lexWord || p.toks[i].isArticle() {
		i++
	}
	if verb := p.toks[i]; verb.isVerb() {
		copy(p.toks[start+1:], p.toks[start:i])
		p.toks[start] = verb
		return
	}
	if i-start > 1 || first.isArticle() {
		p.at = start
		p.fail("there is no verb", `begin with what is to be done, such as "remember", "add" or "require"`)
	}
}

// prefix returns the index of the first lexeme after "starting DAY", "until DAY" and
// "inherited".
func (p *parser) prefix() int {
	i := 0
	for _, k := range []keyword{kwStarting, kwUntil} {
		if p.toks[i].is(k) && (p.toks[i+1].kind == lexText || p.toks[i+1].kind == lexDate) {
			i += 2
		}
	}
	if p.toks[i].is(kwInherited) {
		i++
	}
	return i
}
