//go:build !unix

package live

import "context"

func prepareProcess(context.Context, Config) (startNode, error) {
	return nil, unsupported("redis-server nodes need a Unix system")
}
