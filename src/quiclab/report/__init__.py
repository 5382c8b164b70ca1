# SPDX-License-Identifier: Apache-2.0
"""The way from a study to an answer that is read: figures, words for the terminal, one offline HTML page.

`words` makes sentences and tables of text, `figures` what people explore, `printing` makes pictures for papers of the
figures, `page` puts words and figures on a page.
"""
