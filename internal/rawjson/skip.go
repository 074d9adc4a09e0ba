package rawjson

// Skip passes over a value of any kind, checks it and returns its span.
func (r *Reader) Skip() (Span, error) {
	r.space()
	start := r.pos
	err := r.skip()
	return Span{start, r.pos}, err
}

// skip passes over a value with all that is in it.
func (r *Reader) skip() error {
	if kind := r.Kind(); kind != Object && kind != Array {
		return r.skipPlain(kind)
	}
	return r.skipNested()
}

// skipNested passes over an object or a list. For each level of nesting it remembers only one bit,
// which says whether the level is an object.
func (r *Reader) skipNested() error {
	var objects [MaxDepth / 64]uint64
	for outside := r.depth; ; {
		kind := r.Kind()
		if kind != Object && kind != Array {
			if err := r.skipPlain(kind); err != nil {
				return err
			}
		} else {
			if err := r.open(byte(kind)); err != nil {
				return err
			}
			word, bit := (r.depth-1)/64, uint64(1)<<((r.depth-1)%64)
			objects[word] &^= bit
			if kind == Object {
				objects[word] |= bit
			}
			if !r.closes(closers[kind]) {
				if kind == Object {
					if err := r.skipKey(); err != nil {
						return err
					}
				}
				continue
			}
		}
		more := false
		for r.depth > outside && !more {
			kind := Array
			if objects[(r.depth-1)/64]>>((r.depth-1)%64)&1 != 0 {
				kind = Object
			}
			var err error
			if more, err = r.next(closers[kind]); more && kind == Object {
				err = r.skipKey()
			}
			if err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// closers has the closing brackets of objects and arrays.
var closers = [...]byte{Object: '}', Array: ']'}

// skipKey passes over a key and the colon behind it.
func (r *Reader) skipKey() error {
	if _, _, err := r.scan(); err != nil {
		return err
	}
	return r.colon()
}

// skipPlain passes over a value that has no values in it.
func (r *Reader) skipPlain(kind Kind) error {
	switch kind {
	case String:
		_, _, err := r.scan()
		return err
	case Number:
		return r.number()
	case True:
		return r.word("true")
	case False:
		return r.word("false")
	case Null:
		return r.word("null")
	case None, Object, Array:
	}
	if r.pos == len(r.data) {
		return r.cut()
	}
	return r.Fail(r.pos, "%s where a value is expected", r.here())
}
