"""Figure 9 of Guan et al. (2019): what each layer holds while a model is trained."""
