;;; axe-lsp-folds.el --- Folded agents stay folded  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What is written behind a fold of outline would be seen, on the line of its
;; heading if the fold ends with the buffer.  These functions take into a
;; fold what belongs to it, by its indentation.

;;; Code:

(require 'cl-lib)

(defun axe-lsp-folds-at (position)
  "Return the folds that end at POSITION, or before the end of line there."
  (cl-remove-if-not (lambda (each) (and (eq (overlay-get each 'invisible) 'outline)
                                        (<= (1- position) (overlay-end each) position)))
                    (overlays-in (max (point-min) (- position 2)) position)))

(defun axe-lsp-folds-keep (folds depth end)
  "Take what was written behind FOLDS at DEPTH into those that it belongs to.
It reaches to END.  The other folds leave it a line of its own."
  (dolist (fold folds)
    (let ((start (overlay-start fold)))
      (save-excursion
        (goto-char start)
        (cond ((> depth (/ (current-indentation) 2)) (move-overlay fold start end))
              ((eq (char-before (overlay-end fold)) ?\n)
               (move-overlay fold start (1- (overlay-end fold)))))))))

(provide 'axe-lsp-folds)
;;; axe-lsp-folds.el ends here
