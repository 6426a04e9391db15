;; The package compiles without a warning, and its documentation is as Emacs wants it.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))
(require 'checkdoc)

(setq byte-compile-dest-file-function
      (lambda (file) (expand-file-name (concat (file-name-nondirectory file) "c") (getenv "HOME"))))
(dolist (file (directory-files (getenv "AXE_EMACS") t "\\.el\\'"))
  (report (file-name-nondirectory file))
  (byte-compile-file file)
  (checkdoc-file file))
