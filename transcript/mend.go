package transcript

import "slices"

// MendOptions are how [Mend] mends.
type MendOptions struct {
	// Binds says that the model may bind its thinking to what stands before it, so that
	// thinking behind the first change has to go.
	Binds bool

	// Bare says that all thinking goes, such as that of a request which was refused
	// because of a signature: no one but the provider can tell which of it is wrong.
	Bare bool
}

// Mended is a request as it was mended.
type Mended struct {
	Data    []byte
	Repairs []Fix       // what was mended; none if Data is the request as it came
	Left    []Violation // what cannot be mended
}

// A Tidier is a [Format] that mends what no model reads, such as marks for caches: no
// thinking is bound to that.
type Tidier interface {
	// Tidy returns a request as the provider takes it, and what was mended.
	Tidy(data []byte) ([]byte, []Fix, error)
}

// Mend mends what the provider of a format would refuse in a session of that format. A
// session without a violation is returned byte for byte, unless all thinking is to go. In
// others, what is not mended keeps its bytes, and no text, call or result is lost but
// texts without a word in them: a result that belongs nowhere is quoted.
//
// Whoever uses what Mend returns looks at Left first: where it is not empty, Data is
// still refused.
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
	bare := opts.Bare && unthink(w, 0)
	if len(broken) == 0 && !bare {
		return &Mended{Data: data}, nil
	}
	out, err := f.Encode(w)
	if err != nil {
		return nil, err
	}
	if opts.Binds && unthink(w, firstChange(data, out.Data)) {
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

// unthink takes the thinking out of all messages of a whole session that do not end before
// an offset, and reports whether there was some.
func unthink(w *Window, from int) (some bool) {
	ends := make([]int, len(w.Session.Items))
	end := 0
	for i, it := range w.Session.Items {
		end += len(it.Raw)
		ends[i] = end
	}
	for i := range w.Entries {
		e := &w.Entries[i]
		if n := len(e.Items); n > 0 && ends[e.Items[n-1]] > from && e.HasThinking() {
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
