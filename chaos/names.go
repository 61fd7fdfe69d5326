package chaos

import (
	"fmt"
	"slices"
	"strings"
)

// ByName returns the one of all that has the name; its error says which names there are.
func ByName[T any](what string, all []T, name string, nameOf func(T) string) (T, error) {
	if i := slices.IndexFunc(all, func(t T) bool { return nameOf(t) == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, t := range all {
		names = append(names, nameOf(t))
	}
	var none T
	return none, fmt.Errorf("no %s %q: there are %s", what, name, strings.Join(names, ", "))
}
