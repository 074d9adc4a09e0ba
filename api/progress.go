package api

import "context"

type progressKey struct{}

// WithProgress returns a context in which jobs report progress to f and not to Options.Progress:
// the name of the job and its steps, done and in total. Jobs may call f concurrently.
func WithProgress(ctx context.Context, f func(job string, done, total int)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// ProgressFrom returns the function of [WithProgress], or nil.
func ProgressFrom(ctx context.Context) func(job string, done, total int) {
	f, _ := ctx.Value(progressKey{}).(func(string, int, int))
	return f
}
