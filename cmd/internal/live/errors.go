package live

// InputError is a mistake of the user, such as a name that another cluster already has.
type InputError struct{ error }

func (e *InputError) Unwrap() error { return e.error }

// EnvironmentError means that this machine cannot provide a thing that a live cluster needs.
type EnvironmentError struct{ error }

func (e *EnvironmentError) Unwrap() error { return e.error }
