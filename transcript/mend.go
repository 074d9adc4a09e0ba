package transcript

import "slices"

// MendOptions are options of [Mend].
type MendOptions struct {
	// Binds means that the model may bind its thinking to everything before it, so that thinking
	// behind the first change must be removed. See anthropic.BindsThinking and
	// responses.BindsReasoning.
	Binds bool

	// Bare removes all thinking, for a request that the provider refused
	// because of a signature: only the provider can tell which one is wrong.
	Bare bool
}

// Mended is a repaired request.
type Mended struct {
	Data    []byte
	Repairs []Fix       // empty if Data is unchanged
	Left    []Violation // violations that cannot be repaired
}

// A Tidier is a [Format] that repairs fields that the model does not read, such as cache marks, so
// that thinking stays valid: that of anthropic.
type Tidier interface {
	// Tidy returns a request that the provider accepts, and the repairs.
	Tidy(data []byte) ([]byte, []Fix, error)
}

// Mend repairs a session of format f so that its provider accepts it. A
// session without a violation is returned byte for byte, unless opts.Bare is
// set. Otherwise, parts that need no repair keep their bytes, and no text,
// call or result is lost except empty texts; a result that fits nowhere is
// quoted.
//
// If Left of the result is not empty, the provider still refuses Data.
func Mend(f Format, s *Session, opts MendOptions) (*Mended, error) {
	data := s.Bytes()
	broken, err := f.Validate(data)
	if err != nil {
		return nil, err
	}
	nobody := !slices.ContainsFunc(s.Messages, func(m Message) bool { return m.Role != RoleSystem })
	if len(broken) > 0 && nobody {
		return &Mended{Data: data, Left: broken}, nil // there is nothing to keep
	}
	w := Whole(s)
	w.Mend = true
	bare := opts.Bare && removeThinking(w, 0)
	if len(broken) == 0 && !bare {
		return &Mended{Data: data}, nil
	}
	out, err := f.Encode(w)
	if err != nil {
		return nil, err
	}
	if opts.Binds && removeThinking(w, firstChange(data, out.Data)) {
		if out, err = f.Encode(w); err != nil {
			return nil, err
		}
	}
	m := &Mended{Data: out.Data, Repairs: out.Repairs}
	if t, ok := f.(Tidier); ok {
		var fixes []Fix
		if m.Data, fixes, err = t.Tidy(m.Data); err != nil {
			return nil, err
		}
		m.Repairs = append(m.Repairs, fixes...)
	}
	if m.Left, err = f.Validate(m.Data); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.Repairs, func(a, b Fix) int { return a.Message - b.Message })
	return m, nil
}

// removeThinking removes the thinking from each message that ends after the offset from in the
// session's input. It reports whether any message had thinking. The window w must be a whole
// session.
func removeThinking(w *Window, from int) (some bool) {
	ends := make([]int, len(w.Session.Items))
	end := 0
	for i, it := range w.Session.Items {
		end += len(it.Raw)
		ends[i] = end
	}
	for i := range w.Entries {
		e := &w.Entries[i]
		if len(e.Items) > 0 && ends[slices.Max(e.Items)] > from && e.HasThinking() {
			*e, some = e.WithoutThinking(), true
		}
	}
	return some
}

// firstChange returns the offset of the first byte in which two texts differ.
func firstChange(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
