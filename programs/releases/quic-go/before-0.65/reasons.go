// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
)

// The qlog of these releases takes no events of others: why the server does not send is not in it.
func offered(_ context.Context, to io.Writer, _ int64) (io.Writer, func()) { return to, func() {} }
