package trace

import "reflect"

// MergePatch returns the JSON merge patch (RFC 7386) that turns before into after; nil if they are
// equal.
func MergePatch(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key, was := range before {
		is, ok := after[key]
		if !ok {
			patch[key] = nil
			continue
		}
		wasMap, ok1 := was.(map[string]any)
		isMap, ok2 := is.(map[string]any)
		if ok1 && ok2 {
			if inner := MergePatch(wasMap, isMap); inner != nil {
				patch[key] = inner
			}
		} else if !reflect.DeepEqual(was, is) {
			patch[key] = is
		}
	}
	for key, is := range after {
		if _, ok := before[key]; !ok {
			patch[key] = is
		}
	}
	if len(patch) == 0 {
		return nil
	}
	return patch
}
