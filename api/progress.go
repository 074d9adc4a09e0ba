package api

import "context"

type progressKey struct{}

// WithProgress returns a context in which jobs tell f how far they are: in steps of their
// own, now and then. f must be safe for concurrent use.
func WithProgress(ctx context.Context, f func(job string, done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// ProgressFrom returns the function that [WithProgress] has jobs tell, or nil.
func ProgressFrom(ctx context.Context) func(job string, done, total int) {
	f, _ := ctx.Value(progressKey{}).(func(string, int, int))
	return f
}
